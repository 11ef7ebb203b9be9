import { ConfigMap, newObject } from '@slipway/kube';
import { expect, test } from 'vitest';

import { snapshotCluster } from './snapshot.ts';
import { testCluster } from './test-cluster.ts';

/** What a cluster looks like after some ConfigMaps were made on it, without what every cluster has. */
async function after(...made: readonly { name: string; data?: Record<string, string> }[]) {
  await using cluster = await testCluster();
  const before = await snapshotCluster(cluster.client);
  for (const { name, data } of made)
    await cluster.client.create(
      newObject(ConfigMap, { metadata: { namespace: 'default', name }, ...(data ? { data } : {}) }),
    );
  const all = Object.entries(await snapshotCluster(cluster.client));
  return Object.fromEntries(all.filter(([id]) => !(id in before)));
}

const [one, two] = ['0b6a3f6e-5c1d-4e0e-9d3c-0f6f8a1b2c3d', '7c9e6679-7425-40de-944b-e07fc1f90ae7'];

test('two runs that differ in uids, also within names and texts, and in times have the same snapshot', async () => {
  const run = (uid: string, time: string) =>
    after({ name: `pvc-${uid}`, data: { text: `made for ${uid}`, at: time } }, { name: 'plain' });
  const first = await run(one, '2026-01-01T00:00:00Z');
  expect(await run(two, '2026-02-02T00:00:00.5Z')).toEqual(first);
  expect(Object.keys(first)).toEqual(['configmaps/default/plain', 'configmaps/default/pvc-<uid>']);
  expect(first['configmaps/default/pvc-<uid>']).toMatchObject({ data: { text: 'made for <uid>', at: '<time>' } });
});

test('what differs in anything else does not', async () => {
  const first = await after({ name: 'a', data: { v: '1' } });
  expect(await after({ name: 'a', data: { v: '2' } })).not.toEqual(first);
  expect(await after({ name: 'b', data: { v: '1' } })).not.toEqual(first);
  expect(await after({ name: 'a', data: { v: '1' } }, { name: 'b' })).not.toEqual(first);
});

test('objects whose names differ in nothing but a uid are told apart by what they hold, whichever came first', async () => {
  const [left, right] = [
    { name: `pvc-${one}`, data: { v: 'left' } },
    { name: `pvc-${two}`, data: { v: 'right' } },
  ];
  const snapshot = await after(left, right);
  expect(Object.keys(snapshot)).toEqual(['configmaps/default/pvc-<uid>#1', 'configmaps/default/pvc-<uid>#2']);
  expect(await after(right, left)).toEqual(snapshot);
});
