import type { Client } from '@slipway/kube';

import { readConfigMap, recordPlaces, writeConfigMap } from './records.ts';

/** What is deployed, and what is being deployed. */
export interface DeploymentState {
  readonly status?: string;
  readonly tag?: string;
  readonly version?: string;
  readonly deployingTag?: string;
  readonly deployingVersion?: string;
}

export async function deploymentState(client: Client): Promise<DeploymentState> {
  return await readConfigMap(client, recordPlaces.deployment);
}

/** New fields over those that are there. */
export async function setDeploymentState(client: Client, change: DeploymentState): Promise<DeploymentState> {
  const state = { ...(await deploymentState(client)), ...change };
  await writeConfigMap(client, recordPlaces.deployment, { ...state });
  return state;
}
