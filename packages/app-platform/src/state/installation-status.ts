import type { Client, Clock } from '@slipway/kube';

import { names } from '../names.ts';
import { readConfigMap, writeConfigMap } from './records.ts';

export type InstallationState = 'pending' | 'in-progress' | 'completed' | 'failed';

const place = { namespace: names.operatorNamespace, name: names.installationStatus };

/** How far the installation is. Nobody has begun: `pending`. */
export async function installationState(client: Client): Promise<InstallationState> {
  const { status } = await readConfigMap(client, place);
  return (status as InstallationState | undefined) ?? 'pending';
}

export async function updateInstallationStatus(
  { client, clock }: { client: Client; clock: Clock },
  status: InstallationState,
  attempt: number,
  error?: string,
): Promise<void> {
  const timestamp = new Date(clock.now()).toISOString();
  await writeConfigMap(client, place, { status, attempt: String(attempt), timestamp, error });
}
