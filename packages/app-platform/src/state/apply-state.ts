import type { Client, Clock } from '@slipway/kube';

import { recordPlaces, writeConfigMap } from './records.ts';

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
  await writeConfigMap(client, recordPlaces.apply, { commitHash, status, timestamp, trigger, errorMessage });
}
