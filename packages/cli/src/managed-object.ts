import {
  type Client,
  type DeepReadonly,
  type DefinedKind,
  findCondition,
  isNotFound,
  keyOf,
  keyText,
  type KubeObject,
  type Style,
  styled,
  type Terminal,
} from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import { ageText, type Column } from './view/table.ts';

/** One object of an operator, as `slipway status` shows it. */
export interface ManagedObject {
  readonly operator: string;
  readonly kind: string;
  readonly name: string;
  /** A word: `Ready`, `Processing`, `Waiting`, `Deleting` … */
  readonly state: string;
  readonly good: boolean | undefined;
  /** Epoch milliseconds since when it is in that state. */
  readonly since: number | undefined;
  /** What it waits for or what is wrong. */
  readonly message: string;
}

export function summarise(operator: string, kind: string, object: DeepReadonly<KubeObject>): ManagedObject {
  const conditions = object as Parameters<typeof findCondition>[0];
  const ready = findCondition(conditions, 'Ready') ?? findCondition(conditions, `${kind}Healthy`);
  const stated = statedIn(object);
  const deleting = object.metadata.deletionTimestamp;
  const good = ready === undefined ? (stated === 'Ready' ? true : undefined) : ready.status === 'True';
  const state =
    deleting === undefined ? (stated ?? (good ? 'Ready' : (ready?.reason ?? 'New'))) : (stated ?? 'Deleting');
  const since = deleting ?? ready?.lastTransitionTime ?? object.metadata.creationTimestamp;
  return {
    operator,
    kind,
    name: keyText(keyOf(object)),
    state,
    good,
    since: since ? Date.parse(since) : undefined,
    message: good ? '' : (ready?.message ?? firstProblem(object)),
  };
}

/** The word an object has for itself, where its kind has a field for one. */
function statedIn(object: DeepReadonly<KubeObject>): string | undefined {
  const { state, status } = (object['status'] ?? {}) as { state?: unknown; status?: unknown };
  return [state, status].find((word) => typeof word === 'string') as string | undefined;
}

/** What the first condition that does not hold says, for kinds without a condition that sums up the others. */
function firstProblem(object: DeepReadonly<KubeObject>): string {
  const { conditions = [] } = (object['status'] ?? {}) as { conditions?: { status?: string; message?: string }[] };
  return conditions.find(({ status, message }) => status === 'False' && message)?.message ?? '';
}

/** Everything the operators manage. Kinds that are not installed are skipped and named. */
export async function listManagedObjects(
  client: Client,
  operators: readonly OperatorDescription[],
  signal?: AbortSignal,
): Promise<{ objects: ManagedObject[]; missing: DefinedKind[] }> {
  const objects: ManagedObject[] = [];
  const missing: DefinedKind[] = [];
  for (const operator of operators) {
    for (const kind of operator.kinds) {
      try {
        for await (const object of client.list(kind, { signal }))
          objects.push(summarise(operator.name, kind.kind, object));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        missing.push(kind);
      }
    }
  }
  return { objects, missing };
}

/** The colour of a state. */
export function stateStyle({ good, state }: Pick<ManagedObject, 'good' | 'state'>): Style {
  return good === true ? 'green' : /error|fail|exceeded|refused/i.test(state) ? 'red' : 'yellow';
}

export function statusColumns(terminal: Terminal): Column<ManagedObject>[] {
  return [
    { title: 'OPERATOR', text: (row) => row.operator },
    { title: 'KIND', text: (row) => row.kind },
    { title: 'NAME', text: (row) => row.name },
    { title: 'STATE', text: (row) => row.state, paint: (row, text) => styled(terminal, stateStyle(row), text) },
    { title: 'SINCE', text: (row) => (row.since === undefined ? '' : ageText(row.since, terminal.clock.now())) },
    { title: 'WAITS FOR', text: (row) => row.message.replaceAll('\n', ' '), flexible: true },
  ];
}
