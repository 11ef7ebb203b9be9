import type { ObservedChange } from '@slipway/apiserver';
import { type DeepReadonly, type KubeObject, styled, type Terminal } from '@slipway/kube';
import { groupOf, healthOf, memberLabel } from '@slipway/manifests';
import type { OperatorDescription } from '@slipway/runtime';

import { stateStyle, summarise, type ManagedObject } from '../managed-object.ts';
import { Edits } from './edits.ts';
import { cut } from './text-width.ts';

/** Made by the cluster for a Service, with the Service's labels: nobody applied them. */
const derivedKinds: ReadonlySet<string> = new Set(['Endpoints', 'EndpointSlice']);

type StoryTerminal = Pick<Terminal, 'clock' | 'colours' | 'interactive' | 'columns'>;
/** Of `   0.0s  `. */
const timeWidth = 9;

/** Tells what happens on the cluster: every state an operator's object goes through, every object that comes, gets well and goes. */
export class Story {
  readonly #operators: readonly OperatorDescription[];
  readonly #say: (line: string) => void;
  readonly #terminal: StoryTerminal;
  readonly #start: number;
  readonly #states = new Map<string, string>();
  readonly #health = new Map<string, string>();
  readonly #edits = new Edits();
  /** Members that were deleted. */
  readonly #lost = new Set<string>();

  constructor(operators: readonly OperatorDescription[], terminal: StoryTerminal, say: (line: string) => void) {
    this.#operators = operators;
    this.#say = say;
    this.#terminal = terminal;
    this.#start = terminal.clock.now();
  }

  /** What was there before the story began. */
  begin(objects: readonly ManagedObject[]): void {
    for (const object of objects) this.#told(object);
  }

  /** Called for every write on the cluster. */
  observe({ type, object, previous }: ObservedChange): void {
    const seen = object as unknown as DeepReadonly<KubeObject>;
    const operator = this.#operatorOf(seen);
    if (operator) {
      const row = summarise(operator, seen.kind, seen);
      if (type === 'DELETED') this.#gone(`${row.kind} ${row.key}`);
      // What an operator's object is made of says how it is on the way there; only the end of that is part of the story.
      else if (row.good === true || !this.#isPart(seen)) this.#told(row);
    } else if (this.#isMember(seen)) {
      this.#member(type, seen, previous as unknown as DeepReadonly<KubeObject> | undefined);
    }
  }

  /** In a set that an operator applied, or owned by one of its objects. */
  #isMember(object: DeepReadonly<KubeObject>): boolean {
    const isApplied = object.metadata.labels?.[memberLabel] !== undefined && !derivedKinds.has(object.kind);
    return isApplied || this.#isPart(object);
  }

  #isPart(object: DeepReadonly<KubeObject>): boolean {
    return (object.metadata.ownerReferences ?? []).some(
      (owner) => owner.controller === true && this.#operatorOf({ ...owner, metadata: {} }) !== undefined,
    );
  }

  #operatorOf(object: DeepReadonly<KubeObject>): string | undefined {
    return this.#operators.find((operator) =>
      operator.kinds.some((kind) => kind.kind === object.kind && kind.group === groupOf(object.apiVersion)),
    )?.name;
  }

  #told(row: ManagedObject): void {
    const name = `${row.kind} ${row.key}`;
    const state = row.message ? `${row.state}: ${row.message.replaceAll('\n', ' ')}` : row.state;
    if (this.#states.get(name) === state) return;
    this.#states.set(name, state);
    this.#line(`${name} → ${styled(this.#terminal, stateStyle(row), row.state)}${state.slice(row.state.length)}`);
  }

  #gone(name: string): void {
    this.#states.delete(name);
    this.#line(`${name} → gone`);
  }

  #member(
    type: ObservedChange['type'],
    object: DeepReadonly<KubeObject>,
    previous: DeepReadonly<KubeObject> | undefined,
  ): void {
    const { namespace, name } = object.metadata;
    const text = `${object.kind} ${namespace ? `${namespace}/` : ''}${name}`;
    if (type === 'DELETED') {
      this.#health.delete(text);
      this.#edits.forget(text);
      this.#lost.add(text);
      this.#memberLine(`  ${styled(this.#terminal, 'red', '-')} `, text);
      return;
    }
    const { status } = healthOf(object);
    const before = this.#health.get(text);
    this.#health.set(text, status);
    if (type === 'ADDED') {
      const isBack = this.#lost.delete(text);
      this.#memberLine(`  ${styled(this.#terminal, 'green', '+')} `, text, isBack ? ' is back' : '');
      return;
    }
    if (previous) this.#edited(text, previous, object);
    if (status === 'Current' && before !== undefined && before !== 'Current')
      this.#memberLine('    ', text, ' is ready');
  }

  #edited(text: string, previous: DeepReadonly<KubeObject>, object: DeepReadonly<KubeObject>): void {
    const edit = this.#edits.observe(text, previous, object);
    if (!edit) return;
    const [first = '', ...others] = edit.fields;
    const fields = others.length === 0 ? first : `${first} and ${others.length} more`;
    if (edit.type === 'undone') this.#memberLine('    ', text, `: edit of ${fields} undone`);
    else this.#memberLine(`  ${styled(this.#terminal, 'yellow', '~')} `, text, `: ${fields} changed by ${edit.by}`);
  }

  /** Members come by the dozen: one line each, with the name cut where there is no room. */
  #memberLine(before: string, name: string, after = ''): void {
    const room = this.#terminal.interactive
      ? this.#terminal.columns() - timeWidth - 4 - after.length
      : Number.MAX_VALUE;
    this.#line(`${before}${cut(name, room)}${after}`);
  }

  #line(text: string): void {
    const passed = `${((this.#terminal.clock.now() - this.#start) / 1000).toFixed(1).padStart(6)}s`;
    this.#say(`${styled(this.#terminal, 'dim', passed)}  ${text}`);
  }
}
