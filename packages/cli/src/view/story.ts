import type { ObservedChange } from '@slipway/apiserver';
import type { Clock, DeepReadonly, KubeObject } from '@slipway/kube';
import { groupOf, healthOf, memberLabel } from '@slipway/manifests';
import type { OperatorDescription } from '@slipway/runtime';

import { summarise, type ManagedObject } from '../managed-object.ts';

/** Made by the cluster for a Service, with the Service's labels: nobody applied them. */
const derivedKinds: ReadonlySet<string> = new Set(['Endpoints', 'EndpointSlice']);

/** Tells what happens on the cluster: every state an operator's object goes through, every object that comes, gets well and goes. */
export class Story {
  readonly #operators: readonly OperatorDescription[];
  readonly #say: (line: string) => void;
  readonly #clock: Clock;
  readonly #start: number;
  readonly #states = new Map<string, string>();
  readonly #health = new Map<string, string>();

  constructor(operators: readonly OperatorDescription[], clock: Clock, say: (line: string) => void) {
    this.#operators = operators;
    this.#say = say;
    this.#clock = clock;
    this.#start = clock.now();
  }

  /** What was there before the story began. */
  begin(objects: readonly ManagedObject[]): void {
    for (const object of objects) this.#told(object);
  }

  /** Called for every write on the cluster. */
  observe({ type, object }: ObservedChange): void {
    const seen = object as unknown as DeepReadonly<KubeObject>;
    const operator = this.#operatorOf(seen);
    if (operator) {
      const row = summarise(operator, seen.kind, seen);
      if (type === 'DELETED') this.#gone(`${row.kind} ${row.name}`);
      else this.#told(row);
    } else if (seen.metadata.labels?.[memberLabel] !== undefined && !derivedKinds.has(seen.kind)) {
      this.#member(type, seen);
    }
  }

  #operatorOf(object: DeepReadonly<KubeObject>): string | undefined {
    return this.#operators.find((operator) =>
      operator.kinds.some((kind) => kind.kind === object.kind && kind.group === groupOf(object.apiVersion)),
    )?.name;
  }

  #told(row: ManagedObject): void {
    const name = `${row.kind} ${row.name}`;
    const state = row.message ? `${row.state}: ${row.message.replaceAll('\n', ' ')}` : row.state;
    if (this.#states.get(name) === state) return;
    this.#states.set(name, state);
    this.#line(`${name} → ${state}`);
  }

  #gone(name: string): void {
    this.#states.delete(name);
    this.#line(`${name} → gone`);
  }

  #member(type: ObservedChange['type'], object: DeepReadonly<KubeObject>): void {
    const { namespace, name } = object.metadata;
    const text = `${object.kind} ${namespace ? `${namespace}/` : ''}${name}`;
    if (type === 'DELETED') {
      this.#health.delete(text);
      this.#line(`  - ${text}`);
      return;
    }
    const { status } = healthOf(object);
    const before = this.#health.get(text);
    this.#health.set(text, status);
    if (type === 'ADDED') this.#line(`  + ${text}`);
    else if (status === 'Current' && before !== undefined && before !== 'Current') this.#line(`    ${text} is ready`);
  }

  #line(text: string): void {
    this.#say(`${((this.#clock.now() - this.#start) / 1000).toFixed(1).padStart(6)}s  ${text}`);
  }
}
