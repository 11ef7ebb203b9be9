import type { Client, Clock } from '@slipway/kube';

import { names } from '../names.ts';
import { writeConfigMap } from './records.ts';

export type ApplyTrigger = 'poll' | 'reconcile';
export type ApplyStatus = 'in-progress' | 'succeeded' | 'failed';

export interface ApplyRecord {
  readonly commitHash: string;
  readonly trigger: ApplyTrigger;
  readonly status: ApplyStatus;
  readonly errorMessage?: string;
}

export async function updateApplyState(
  { client, clock }: { client: Client; clock: Clock },
  { commitHash, trigger, status, errorMessage }: ApplyRecord,
): Promise<void> {
  const timestamp = new Date(clock.now()).toISOString();
  const place = { namespace: names.operatorNamespace, name: names.operatorState };
  await writeConfigMap(client, place, { commitHash, status, timestamp, trigger, errorMessage });
}
