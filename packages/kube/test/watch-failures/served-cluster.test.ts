import { testCluster, type TestCluster } from '@slipway/testing';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';

import { seededRandom } from '../../src/random.ts';
import {
  type Cache,
  ConfigMap,
  createCache,
  createClient,
  defineKind,
  type KubeObject,
  type ObjectOf,
  Secret,
} from '../../src/index.ts';

const Gadget = defineKind({
  group: 'cache.example.com',
  version: 'v1',
  kind: 'Gadget',
  scope: 'Namespaced',
  spec: Type.Object({ size: Type.Integer() }),
});

function cacheOf(cluster: TestCluster, streamLists: boolean): Cache {
  return createCache({
    transport: cluster.transport(),
    clock: cluster.clock,
    random: seededRandom(1),
    streamLists,
    timings: { pageSize: 2 },
  });
}

// Against the embedded server, or the real one on the reference lane: what the faulty server leaves out must not matter.
describe.each([true, false])('against a whole API server (streamed: %s)', (streamLists) => {
  test('custom resources load, follow, relabel and go', async () => {
    await using cluster = await testCluster({ kinds: [Gadget] });
    const { client } = cluster;
    for (let i = 0; i < 5; i += 1) {
      await client.create<ObjectOf<typeof Gadget>>({
        apiVersion: 'cache.example.com/v1',
        kind: 'Gadget',
        metadata: { name: `g${i}`, namespace: 'default', labels: { parity: String(i % 2) } },
        spec: { size: i },
      });
    }
    await using cache = cacheOf(cluster, streamLists);
    const informer = cache.informer(Gadget, { labelSelector: { parity: '0' } });
    cache.start();
    await cluster.eventually('the gadgets are loaded', () => informer.synced);
    const sizes = async () => (await cache.list(Gadget)).map(({ spec }) => spec.size);
    expect(await sizes()).toEqual([0, 2, 4]);
    // Nothing had to be tried twice: a server that can stream lists was understood when it did.
    expect(cache.status()[0]!.counts?.restarts).toEqual({});
    expect((await cache.list(Gadget))[0]!.metadata).not.toHaveProperty('managedFields');

    await client.patch(Gadget, { namespace: 'default', name: 'g0' }, { type: 'merge', body: { spec: { size: 10 } } });
    await client.patch(
      Gadget,
      { namespace: 'default', name: 'g1' },
      { type: 'merge', body: { metadata: { labels: { parity: '0' } } } },
    );
    await client.delete(Gadget, { namespace: 'default', name: 'g4' });
    await cluster.eventually('the changes are seen', async () => JSON.stringify(await sizes()) === '[10,1,2]');
  });

  test('Secrets come as metadata, ConfigMaps whole when asked for, and reads see this process’s writes', async () => {
    await using cluster = await testCluster();
    await using cache = cacheOf(cluster, streamLists);
    cache.informer(Secret, { namespaces: ['default'] });
    cache.informer(ConfigMap, { namespaces: ['default'], metadataOnly: false });
    const client = createClient({ transport: cluster.transport(), clock: cluster.clock, fieldManager: 'test', cache });
    const key = { namespace: 'default', name: 'mine' };
    await client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: key,
      stringData: { password: 'hunter2' },
    });
    cache.start();
    await cluster.eventually('both are loaded', () => cache.status().every(({ synced }) => synced));
    const secret = await cache.get(Secret, key);
    expect(secret).toMatchObject({ apiVersion: 'v1', kind: 'Secret', metadata: key });
    expect(Object.keys(secret!)).toEqual(['apiVersion', 'kind', 'metadata']);

    const { metadata } = await client.create<KubeObject>({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: key,
      data: { a: '1' },
    });
    const read = cache.get(ConfigMap, key);
    await cluster.eventually('the read has returned', () => read.then(() => true));
    expect((await read)?.metadata.resourceVersion).toBe(metadata.resourceVersion);
    await client.delete(ConfigMap, key);
    const gone = cache.get(ConfigMap, key);
    await cluster.eventually('the read has returned', () => gone.then(() => true));
    expect(await gone).toBeUndefined();
  });

  test('a kind whose CRD comes later is reported, then loads by itself (watch failure 32)', async () => {
    await using cluster = await testCluster({ unshared: true });
    await using cache = cacheOf(cluster, streamLists);
    const informer = cache.informer(Gadget);
    cache.start();
    const problem = await cluster.eventually('the problem is reported', () => {
      const text = cache.status()[0]!.problem;
      return text?.includes('not served') ? text : undefined;
    });
    expect(problem).toContain('Gadget.v1.cache.example.com is not served by the cluster (404');
    await cluster.install(Gadget);
    await cluster.eventually('the kind is loaded', () => informer.synced);
    expect(cache.status()[0]!.problem).toBeUndefined();
  });
});
