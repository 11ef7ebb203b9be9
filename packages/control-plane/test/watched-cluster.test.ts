import { ConfigMap, createClient, seconds, systemRandom } from '@slipway/kube';
import { memoryLogger } from '@slipway/runtime';
import { HeldWatches, testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { WatchedCluster } from '../src/target/watched-cluster.ts';

test('who reads before the first list has come is told to look again, also when nothing is left to list', async () => {
  await using cluster = await testCluster();
  const { client, clock } = cluster;
  const watches = new HeldWatches();
  const openTransport = () => watches.through(cluster.transport());
  const clientFor = () => createClient({ transport: cluster.transport(), clock, fieldManager: 'test' });
  let changes = 0;
  const watched = new WatchedCluster(
    { client, server: 'https://target.example', watching: { openTransport, clientFor } },
    { clock, random: systemRandom, log: memoryLogger([]), onChange: () => (changes += 1) },
  );
  watched.declare([{ kind: ConfigMap, labelSelector: 'mine=true' }]);
  const key = { namespace: 'default', name: 'gone' };
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, labels: { mine: 'true' } } });
  expect(await watched.list(ConfigMap)).toBeUndefined();
  await client.delete(ConfigMap, key);
  expect(changes).toBe(0);
  watches.release();
  await cluster.eventually('it is told', () => changes > 0, { withinMs: seconds(30) });
  expect(await watched.list(ConfigMap)).toEqual([]);
  await watched.stop();
});
