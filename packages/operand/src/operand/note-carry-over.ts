import type { DeepReadonly } from '@slipway/kube';
import { refKey } from '@slipway/manifests';

import { toObjectRef, type LiveRef } from '../live-refs.ts';
import type { OperandCondition } from '../reasons.ts';
import { carryOverFields, carryOverOf } from './carry-over.ts';
import type { OperandRun } from './run.ts';
import { writeStatus } from './status.ts';

/** Adds to the carry-over, durably, and says so. */
export async function noteCarryOver(
  run: OperandRun,
  refs: readonly DeepReadonly<LiveRef>[],
  conditions: OperandCondition[] = [],
): Promise<void> {
  const noted = new Map([...carryOverOf(run), ...refs].map((ref) => [refKey(toObjectRef(ref)), { ...ref }]));
  await writeStatus(run, { ...carryOverFields([...noted.values()]), conditions });
}
