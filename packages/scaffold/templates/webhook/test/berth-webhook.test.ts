import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInvalid } from '@slipway/kube';
import { runOperator, testCluster } from '@slipway/testing';

import { Berth } from '../src/berth/api.ts';
import { operator } from '../src/index.ts';

test('the API server refuses a Berth without a version', async (context) => {
  // Certificates look at the clock of the machine.
  const cluster = await testCluster({ kinds: operator.kinds, time: 'machine' });
  context.after(() => cluster[Symbol.asyncDispose]());
  await runOperator(cluster, operator);
  const create = (name: string, image: string) =>
    cluster.client.create({
      apiVersion: Berth.apiVersion,
      kind: 'Berth',
      metadata: { namespace: 'default', name },
      spec: { image, replicas: 1 },
    });
  await assert.rejects(create('bad', 'registry.k8s.io/pause:latest'), isInvalid);
  await assert.rejects(create('bad', 'registry.k8s.io/pause'), isInvalid);
  await create('good', 'registry.k8s.io/pause:3.10');
});
