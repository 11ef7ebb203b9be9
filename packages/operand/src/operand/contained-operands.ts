import type { DeepReadonly } from '@slipway/kube';
import type { ObjectRef } from '@slipway/manifests';

import { ClusterActiveOperand, Operand } from '../api.ts';
import type { LiveRef } from '../live-refs.ts';
import { operandOf } from '../set-references.ts';
import { carryOverIn } from './carry-over.ts';
import type { OperandReading } from './run.ts';

/**
 * Without the Operands among `refs` that are on their way out and cannot go before this one. Operands may contain each other,
 * or themselves: each waiting for the other would be for ever. What such a one holds, it takes off itself.
 */
export async function withoutMutual<T extends DeepReadonly<LiveRef>>(
  run: OperandReading,
  refs: readonly T[],
): Promise<T[]> {
  if (!refs.some(isOperandRef)) return [...refs];
  const { members, going } = await containedOperands(run);
  const self = run.operand.metadata.name!;
  const mutual = new Set([...reaching(members, self)].filter((name) => name === self || going.has(name)));
  return refs.filter((ref) => !isOperandRef(ref) || !mutual.has(ref.name));
}

interface Contained {
  /** By the name of an Operand: the Operands it has, or has yet to prune. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** The names of those that are being deleted. */
  readonly going: ReadonlySet<string>;
}

async function containedOperands({ context: { client, signal } }: OperandReading): Promise<Contained> {
  const members = new Map<string, string[]>();
  const going = new Set<string>();
  const note = (owner: string, refs: readonly DeepReadonly<LiveRef>[] = []) => {
    const names = refs.filter(isOperandRef).map(({ name }) => name);
    members.set(owner, [...(members.get(owner) ?? []), ...names]);
  };
  for await (const { metadata, status } of client.list(Operand, { signal })) {
    if (metadata.deletionTimestamp !== undefined) going.add(metadata.name!);
    note(metadata.name!, carryOverIn(status));
  }
  for await (const set of client.list(ClusterActiveOperand, { signal })) {
    const owner = operandOf(set);
    if (owner) note(owner.name, set.spec.live);
  }
  return { members, going };
}

/** Whoever contains `name`, directly or through others, and `name` itself. */
function reaching(members: Contained['members'], name: string): Set<string> {
  const found = new Set([name]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const [owner, held] of members) if (held.some((each) => found.has(each))) found.add(owner);
  }
  return found;
}

function isOperandRef({ group, kind }: DeepReadonly<Pick<ObjectRef, 'group' | 'kind'>>): boolean {
  return group === Operand.group && kind === Operand.kind;
}
