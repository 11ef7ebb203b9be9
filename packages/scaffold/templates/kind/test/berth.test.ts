import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deployment, findCondition, isConditionTrue, type Client } from '@slipway/kube';
import { PermissionRecorder, snapshotCluster, sweepCrashes, testCluster } from '@slipway/testing';

import { Berth } from '../src/berth/api.ts';
import { deploymentKey } from '../src/berth/deployment.ts';
import { berthPart } from '../src/berth/index.ts';

const key = { namespace: 'default', name: 'first' };
const owned = deploymentKey(key);
const first = {
  apiVersion: Berth.apiVersion,
  kind: 'Berth',
  metadata: key,
  spec: { image: 'registry.k8s.io/pause:3.10', replicas: 2 },
};
const isReady = async (client: Client) => isConditionTrue(await client.get(Berth, key), 'Ready');
const scaleTo = (client: Client, replicas: number) =>
  client.patch(Berth, key, { type: 'merge', body: { spec: { replicas } } });
const runs = async (client: Client, replicas: number) =>
  (await client.get(Deployment, owned))?.status?.readyReplicas === replicas && (await isReady(client));

test('a Berth runs, follows its spec, heals, leaves nothing behind, and needs exactly its permissions', async (context) => {
  const cluster = await testCluster({ kinds: [Berth], controllers: 'workloads' });
  context.after(() => cluster[Symbol.asyncDispose]());
  const { client } = cluster;
  const recorder = new PermissionRecorder();
  const transport = recorder.recording(cluster.transport());
  await cluster.run(berthPart.controllers, { cluster: { transport } });

  await client.create(first);
  await cluster.eventually('it says it is ready', () => isReady(client));
  assert.equal(findCondition(await client.get(Berth, key), 'Ready')?.reason, 'Running');

  await scaleTo(client, 3);
  await cluster.eventually('three replicas', () => runs(client, 3));

  await client.delete(Deployment, owned);
  await cluster.eventually('the Deployment is back', () => runs(client, 3));

  await client.delete(Berth, key);
  await cluster.eventually('the Deployment is gone', async () => (await client.get(Deployment, owned)) === undefined);

  // What it asks for is exactly what it has done.
  recorder.verify(berthPart.permissions);
});

test('killed before or after any write, it comes to the same end', async () => {
  const { points } = await sweepCrashes({
    name: 'a Berth that changes its mind',
    cluster: () => testCluster({ kinds: [Berth], controllers: 'workloads' }),
    controllers: () => berthPart.controllers,
    steps: [
      {
        name: 'it runs',
        run: async ({ client }) => void (await client.create(first)),
        settled: ({ client }) => runs(client, 2),
      },
      {
        name: 'it is scaled',
        run: async ({ client }) => void (await scaleTo(client, 1)),
        settled: ({ client }) => runs(client, 1),
      },
    ],
    snapshot: ({ client }) => snapshotCluster(client, { without: ['pods', 'replicasets.apps'] }),
  });
  assert.ok(points > 0);
});
