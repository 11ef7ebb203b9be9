import type { Client } from '@slipway/kube';

import { names } from '../names.ts';
import { readConfigMap, writeConfigMap } from './records.ts';

/** What is deployed, and what is being deployed. */
export interface DeploymentState {
  readonly status?: string;
  readonly tag?: string;
  readonly version?: string;
  readonly deployingTag?: string;
  readonly deployingVersion?: string;
}

const place = { namespace: names.platformNamespace, name: names.deploymentStatus };

export async function deploymentState(client: Client): Promise<DeploymentState> {
  return await readConfigMap(client, place);
}

/** New fields over those that are there. */
export async function setDeploymentState(client: Client, change: DeploymentState): Promise<DeploymentState> {
  const state = { ...(await deploymentState(client)), ...change };
  await writeConfigMap(client, place, { ...state });
  return state;
}
