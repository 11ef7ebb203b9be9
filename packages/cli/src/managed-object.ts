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
  const ready = findCondition(object as Parameters<typeof findCondition>[0], 'Ready');
  const stated = (object['status'] as { state?: string } | undefined)?.state;
  const deleting = object.metadata.deletionTimestamp;
  const good = ready === undefined ? undefined : ready.status === 'True';
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
    message: good ? '' : (ready?.message ?? ''),
  };
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
