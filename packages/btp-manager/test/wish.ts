import { ConfigMap, Deployment, NetworkPolicy, Secret } from '@slipway/kube';
import { isIssuedBy } from '@slipway/runtime';
import type { SeededRandom, TestCluster } from '@slipway/testing';
import { expect } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { decode, encode, messageIn, primary, read, reasonIn } from './kit.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });
export const ownLabel = 'app.kubernetes.io/managed-by=btp-manager';

/** What the module is told, and by which it is judged at the end. */
export interface Wish {
  readonly clientid: string;
  readonly cluster_id: string;
  readonly credentials_namespace: 'creds' | 'kyma-system';
  readonly policies: boolean;
}

export function wishOf(random: SeededRandom, index: number): Wish {
  return {
    clientid: `client-${index}`,
    cluster_id: `cluster-${random.below(2)}`,
    credentials_namespace: random.pick(['creds', 'kyma-system']),
    policies: random.chance(0.7),
  };
}

export async function tell({ client }: TestCluster, { policies, ...credentials }: Wish): Promise<void> {
  const data = Object.fromEntries(Object.entries(credentials).map(([key, value]) => [key, encode(value)]));
  await client.patch(Secret, system('sap-btp-manager'), { type: 'merge', body: { data } });
  const annotations = { 'operator.kyma-project.io/btp-operator-disable-network-policies': policies ? null : 'true' };
  await client.patch(BtpOperator, primary, { type: 'merge', body: { metadata: { annotations } } });
}

/** Throws, with what it is waiting for, until the last wish is in force and certificates belong together. */
export async function isInForce(cluster: TestCluster, wish: Wish): Promise<void> {
  const { client } = cluster;
  const btp = await read(cluster);
  expect(`${reasonIn(btp)}: ${messageIn(btp)}`).toMatch(/^(ReconcileSucceeded|UpdateDone):/);
  const there = wish.credentials_namespace;
  const elsewhere = there === 'creds' ? 'kyma-system' : 'creds';
  const credentials = (where: string) => client.get(Secret, { namespace: where, name: 'sap-btp-service-operator' });
  expect(decode((await credentials(there))?.data?.['clientid'])).toBe(wish.clientid);
  expect(await credentials(elsewhere)).toBeUndefined();
  const configuration = await client.get(ConfigMap, system('sap-btp-operator-config'));
  expect(configuration?.data).toMatchObject({ CLUSTER_ID: wish.cluster_id, MANAGEMENT_NAMESPACE: there });
  const deployment = await client.get(Deployment, system('sap-btp-operator-controller-manager'));
  expect(deployment?.spec?.replicas).toBe(1);
  const policies = await Array.fromAsync(client.list(NetworkPolicy, { labelSelector: ownLabel }));
  expect(policies).toHaveLength(wish.policies ? 4 : 0);
  const ca = await client.get(Secret, system('ca-server-cert'));
  const leaf = await client.get(Secret, system('webhook-server-cert'));
  expect(isIssuedBy(decode(leaf?.data?.['tls.crt']), decode(ca?.data?.['ca.crt']))).toBe(true);
}
