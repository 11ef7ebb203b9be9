import type { Client, Clock } from '@slipway/kube';

import { readConfigMap, recordPlaces, writeConfigMap } from './records.ts';

export type InstallationState = 'pending' | 'in-progress' | 'completed' | 'failed';

/** How far the installation is. Nobody has begun: `pending`. */
export async function installationState(client: Client): Promise<InstallationState> {
  const { status } = await readConfigMap(client, recordPlaces.installation);
  return (status as InstallationState | undefined) ?? 'pending';
}

export async function updateInstallationStatus(
  { client, clock }: { client: Client; clock: Clock },
  status: InstallationState,
  attempt: number,
  error?: string,
): Promise<void> {
  const timestamp = new Date(clock.now()).toISOString();
  await writeConfigMap(client, recordPlaces.installation, { status, attempt: String(attempt), timestamp, error });
}
