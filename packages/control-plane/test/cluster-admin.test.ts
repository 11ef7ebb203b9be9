import { ClusterRoleBinding, hours, type KubeObject } from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { APIServer, Authorization } from '../src/api/components.ts';
import { ClusterAdmin } from '../src/api/cluster-admin.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { clusterAdminController } from '../src/cluster-admin/controller.ts';
import { targetSecret, TargetStandIn, targetStatus } from '../src/testing/index.ts';

const key = { namespace: 'default', name: 'demo' };
const binding = { name: 'openmcp:cluster-admin' };

const named = (kind: { apiVersion: string; kind: string }, spec: object): KubeObject => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { ...key },
  spec,
});

async function start(): Promise<TestCluster> {
  const cluster = await testCluster({ kinds: [ManagedControlPlane, APIServer, Authorization, ClusterAdmin] });
  const { client } = cluster;
  await client.create(targetSecret);
  await client.create(named(APIServer, { type: 'Gardener' }));
  await client.patch(APIServer, key, { type: 'merge', body: { status: targetStatus } }, { subresource: 'status' });
  await client.create(named(Authorization, { roleBindings: [] }));
  const { connect } = new TargetStandIn(() => cluster);
  await cluster.run([clusterAdminController({ connect, activeMs: hours(2) })]);
  await client.create(named(ClusterAdmin, { subjects: [{ kind: 'User', name: 'ann' }] }));
  await cluster.eventually('it is active', async () => (await client.get(ClusterRoleBinding, binding)) !== undefined);
  return cluster;
}

test.skipIf(skipped(onReference, 'on the real API server: hours of full rights, which need virtual time'))(
  'full rights are given for their time, taken back when it is over, and never given again',
  async () => {
    await using cluster = await start();
    const { client } = cluster;
    expect((await client.get(ClusterRoleBinding, binding))?.subjects).toMatchObject([{ kind: 'User', name: 'ann' }]);
    expect((await client.get(ClusterAdmin, key))?.status?.active).toBe(true);
    await cluster.eventually('it is over', async () => (await client.get(ClusterAdmin, key))?.status?.active === false);
    expect(await client.get(ClusterRoleBinding, binding)).toBeUndefined();
    await client.patch(ClusterAdmin, key, { type: 'merge', body: { spec: { subjects: [] } } });
    await cluster.advance(hours(3));
    expect(await client.get(ClusterRoleBinding, binding)).toBeUndefined();
  },
);

test('whoever is named later gets the rights, until the same moment', async () => {
  await using cluster = await start();
  const { client } = cluster;
  const before = (await client.get(ClusterAdmin, key))?.status?.expirationTime;
  const subjects = [{ kind: 'User', name: 'bob' }];
  await client.patch(ClusterAdmin, key, { type: 'merge', body: { spec: { subjects } } });
  await cluster.eventually(
    'bob has them',
    async () => (await client.get(ClusterRoleBinding, binding))?.subjects?.[0]?.name === 'bob',
  );
  expect((await client.get(ClusterAdmin, key))?.status?.expirationTime).toBe(before);
});

test('a ClusterAdmin that is deleted takes the rights along', async () => {
  await using cluster = await start();
  await cluster.client.delete(ClusterAdmin, key);
  await cluster.eventually('it is gone', async () => !(await cluster.client.get(ClusterAdmin, key)));
  expect(await cluster.client.get(ClusterRoleBinding, binding)).toBeUndefined();
});
