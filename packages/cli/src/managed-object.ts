import {
  type DeepReadonly,
  findCondition,
  keyOf,
  keyText,
  type KubeObject,
  type Style,
  styled,
  type Terminal,
} from '@slipway/kube';
import type { ShownState } from '@slipway/runtime';

import { ageText, type Column } from './view/table.ts';

/** One object of an operator, as `slipway status` shows it. */
export interface ManagedObject {
  readonly operator: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent: it is in none. */
  readonly namespace?: string;
  readonly name: string;
  /** Namespace and name, as people write them. */
  readonly key: string;
  /** A word: `Ready`, `Processing`, `Waiting`, `Deleting` … */
  readonly state: string;
  readonly good: boolean | undefined;
  /** Epoch milliseconds since when it is in that state. */
  readonly since: number | undefined;
  /** What it waits for or what is wrong. */
  readonly message: string;
  /** Everything it says about itself. */
  readonly conditions: readonly unknown[];
}

export function summarise(operator: string, kind: string, object: DeepReadonly<KubeObject>): ManagedObject {
  const conditions = object as Parameters<typeof findCondition>[0];
  const ready = findCondition(conditions, 'Ready') ?? findCondition(conditions, `${kind}Healthy`);
  const stated = statedIn(object);
  const deleting = object.metadata.deletionTimestamp;
  const good = ready === undefined ? (stated === 'Ready' ? true : undefined) : ready.status === 'True';
  const state =
    deleting === undefined ? (stated ?? (good ? 'Ready' : (ready?.reason ?? 'New'))) : (stated ?? 'Deleting');
  return row(operator, kind, object, {
    state,
    good,
    since: deleting ?? ready?.lastTransitionTime,
    message: good ? '' : (ready?.message ?? firstProblem(object)),
  });
}

/** An object whose operator says what it tells. */
export function summariseShown(
  operator: string,
  kind: string,
  object: DeepReadonly<KubeObject>,
  { state, good, since, message = '' }: ShownState,
): ManagedObject {
  return row(operator, kind, object, { state, good, since, message });
}

interface Told extends Pick<ManagedObject, 'state' | 'good' | 'message'> {
  readonly since: string | undefined;
}

function row(operator: string, kind: string, object: DeepReadonly<KubeObject>, told: Told): ManagedObject {
  const { namespace, name = '', creationTimestamp } = object.metadata;
  const since = told.since ?? creationTimestamp;
  return {
    operator,
    apiVersion: object.apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    key: keyText(keyOf(object)),
    ...told,
    since: since ? Date.parse(since) : undefined,
    conditions: conditionsOf(object),
  };
}

/** The word an object has for itself, where its kind has a field for one. */
function statedIn(object: DeepReadonly<KubeObject>): string | undefined {
  const { state, status } = (object['status'] ?? {}) as { state?: unknown; status?: unknown };
  return [state, status].find((word) => typeof word === 'string') as string | undefined;
}

/** What the first condition that does not hold says, for kinds without a condition that sums up the others. */
function firstProblem(object: DeepReadonly<KubeObject>): string {
  return conditionsOf(object).find(({ status, message }) => status === 'False' && message)?.message ?? '';
}

function conditionsOf(object: DeepReadonly<KubeObject>): { status?: string; message?: string }[] {
  const { conditions } = (object['status'] ?? {}) as { conditions?: { status?: string; message?: string }[] };
  return conditions ?? [];
}

/** The colour of a state. */
export function stateStyle({ good, state }: Pick<ManagedObject, 'good' | 'state'>): Style {
  return good === true ? 'green' : /error|fail|exceeded|refused/i.test(state) ? 'red' : 'yellow';
}

export function statusColumns(terminal: Terminal): Column<ManagedObject>[] {
  return [
    { title: 'OPERATOR', text: (row) => row.operator },
    { title: 'KIND', text: (row) => row.kind },
    { title: 'NAME', text: (row) => row.key },
    { title: 'STATE', text: (row) => row.state, paint: (row, text) => styled(terminal, stateStyle(row), text) },
    { title: 'SINCE', text: (row) => (row.since === undefined ? '' : ageText(row.since, terminal.clock.now())) },
    { title: 'WAITS FOR', text: (row) => row.message.replaceAll('\n', ' '), flexible: true },
  ];
}
