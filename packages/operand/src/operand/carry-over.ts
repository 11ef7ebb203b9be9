import type { DeepReadonly } from '@slipway/kube';
import { refKey } from '@slipway/manifests';

import { toObjectRef, type LiveRef } from '../live-refs.ts';
import type { OperandCondition } from '../reasons.ts';
import type { OperandReading, OperandRun } from './run.ts';
import { writeStatus } from './status.ts';

/** Members of sets that went before another one took them over. What is not wanted at the promotion is pruned then. */
export function carryOverOf(run: OperandReading): readonly DeepReadonly<LiveRef>[] {
  return run.operand.status?.carryOver ?? [];
}

/** Adds to the carry-over, durably, and says so. */
export async function noteCarryOver(
  run: OperandRun,
  refs: readonly DeepReadonly<LiveRef>[],
  conditions: OperandCondition[] = [],
): Promise<void> {
  const noted = new Map([...carryOverOf(run), ...refs].map((ref) => [refKey(toObjectRef(ref)), { ...ref }]));
  await writeStatus(run, { carryOver: [...noted.values()], conditions });
}
