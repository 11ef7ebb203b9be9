import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runOperator, testCluster } from '@slipway/testing';

import { BerthOLD } from '../src/berth/api-OLD.ts';
import { Berth } from '../src/berth/api.ts';
import { operator } from '../src/index.ts';

test('a Berth of version OLD is read in the newest one, and comes back the same', async (context) => {
  // Certificates look at the clock of the machine.
  const cluster = await testCluster({ kinds: operator.kinds, time: 'machine' });
  context.after(() => cluster[Symbol.asyncDispose]());
  await runOperator(cluster, operator);
  const key = { namespace: 'default', name: 'from-OLD' };
  const spec = { image: 'registry.k8s.io/pause:3.10', replicas: 3 };
  await cluster.client.create({ apiVersion: BerthOLD.apiVersion, kind: 'Berth', metadata: key, spec });
  assert.deepEqual((await cluster.client.get(Berth, key))?.spec, spec);
  assert.deepEqual((await cluster.client.get(BerthOLD, key))?.spec, spec);
});
