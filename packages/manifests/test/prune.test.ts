import { ConfigMap, CustomResourceDefinition, KubeError, Namespace, type KubeObject, type Status } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  annotations,
  leftOver,
  mergeInventories,
  pruneMembers,
  refOf,
  refText,
  type InventoryEntry,
  type PruneResult,
  type SetResult,
} from '../src/index.ts';
import { configMap, deployment, freshNamespace, gadgetDefinition, testSet } from './set-on-cluster.ts';

let cluster: TestCluster;
beforeAll(async () => void (cluster = await testCluster()));
afterAll(() => cluster[Symbol.asyncDispose]());

const inventory = (result: SetResult): InventoryEntry[] =>
  result.members.map(({ ref, uid }) => ({ ...ref, ...(uid ? { uid } : {}) }));

const pruned = (result: PruneResult) =>
  Object.fromEntries(result.members.map((member) => [refText(member.ref), member.action]));

describe('pruning', () => {
  test('deletes in reverse order of the waves, each by its uid', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const applied = await set.apply(
      [
        configMap(namespace, 'first', {}, { [annotations.wave]: '1' }),
        configMap(namespace, 'second', {}, { [annotations.wave]: '2' }),
        deployment(namespace, 'third'),
      ],
      { gate: () => false },
    );
    set.requests.length = 0;
    const result = await pruneMembers({ client: set.client, entries: inventory(applied) });
    expect(result.state).toBe('pruned');
    expect(
      set.requests.filter((request) => request.startsWith('DELETE')).map((request) => request.split('/').at(-1)),
    ).toEqual(['third', 'second', 'first']);
  });

  test('a wave that is held up holds up those behind it', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const held: KubeObject = {
      ...configMap(namespace, 'held'),
      metadata: {
        namespace,
        name: 'held',
        annotations: { [annotations.wave]: '2' },
        finalizers: ['example.com/hold'],
      },
    };
    const applied = await set.apply([configMap(namespace, 'first', {}, { [annotations.wave]: '1' }), held]);
    const entries = inventory(applied);
    const waiting = await pruneMembers({ client: set.client, entries });
    expect(waiting.state).toBe('waiting');
    expect(pruned(waiting)).toEqual({
      [`ConfigMap ${namespace}/held`]: 'terminating',
      [`ConfigMap ${namespace}/first`]: 'pending',
    });
    const again = await pruneMembers({ client: set.client, entries });
    expect(again.members.find((member) => member.action === 'terminating')?.message).toContain('example.com/hold');
    await cluster.client.removeFinalizer(
      (await cluster.client.get(ConfigMap, { namespace, name: 'held' }))!,
      'example.com/hold',
    );
    expect(pruned(await pruneMembers({ client: set.client, entries }))).toEqual({
      [`ConfigMap ${namespace}/held`]: 'gone',
      [`ConfigMap ${namespace}/first`]: 'deleted',
    });
  });

  test('an object that was replaced is not the one that was applied', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const entries = inventory(await set.apply([configMap(namespace, 'a')]));
    await cluster.client.delete(ConfigMap, { namespace, name: 'a' });
    await cluster.client.create(configMap(namespace, 'a', { v: 'theirs' }));
    expect(pruned(await pruneMembers({ client: set.client, entries }))).toEqual({
      [`ConfigMap ${namespace}/a`]: 'replaced',
    });
    expect((await cluster.client.get(ConfigMap, { namespace, name: 'a' }))?.data).toEqual({ v: 'theirs' });
  });

  test('an object replaced between the look and the delete is left alone too', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`, async (request) => {
      if (!request.startsWith('DELETE')) return;
      await cluster.client.delete(ConfigMap, { namespace, name: 'a' });
      await cluster.client.create(configMap(namespace, 'a', { v: 'theirs' }));
    });
    const entries = inventory(await set.apply([configMap(namespace, 'a')]));
    expect(pruned(await pruneMembers({ client: set.client, entries }))).toEqual({
      [`ConfigMap ${namespace}/a`]: 'replaced',
    });
    expect((await cluster.client.get(ConfigMap, { namespace, name: 'a' }))?.data).toEqual({ v: 'theirs' });
  });

  test('a conflict about the very object is not taken for another one', async () => {
    const namespace = await freshNamespace(cluster);
    let refusals = 1;
    const set = testSet(cluster, `${namespace}-set`, async (request) => {
      if (!request.startsWith('DELETE') || refusals === 0) return;
      refusals -= 1;
      throw KubeError.fromStatus({ code: 409, reason: 'Conflict', message: 'busy (injected)' } as Status);
    });
    const entries = inventory(await set.apply([configMap(namespace, 'a')]));
    const first = await pruneMembers({ client: set.client, entries });
    expect(first.state).toBe('failed');
    expect(pruned(first)).toEqual({ [`ConfigMap ${namespace}/a`]: 'failed' });
    expect(pruned(await pruneMembers({ client: set.client, entries }))).toEqual({
      [`ConfigMap ${namespace}/a`]: 'deleted',
    });
  });

  test('keeps what is annotated, what the caller wants and the kinds that hold data', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const claim: KubeObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace, name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    const members = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-inner` } },
      gadgetDefinition('kept.example.com'),
      claim,
      configMap(namespace, 'annotated', {}, { [annotations.prune]: 'disabled' }),
      configMap(namespace, 'wanted'),
      configMap(namespace, 'doomed'),
    ];
    await cluster.eventually(
      'the set is there',
      async () => (await set.apply(members, { gate: () => false })).state === 'applied',
    );
    const result = await pruneMembers({
      client: set.client,
      entries: members.map((member) => refOf(member)),
      keep: (live) => (live.metadata.name === 'wanted' ? 'is wanted' : undefined),
    });
    expect(pruned(result)).toEqual({
      [`Namespace ${namespace}-inner`]: 'kept',
      'CustomResourceDefinition.apiextensions.k8s.io gadgets.kept.example.com': 'kept',
      [`PersistentVolumeClaim ${namespace}/data`]: 'kept',
      [`ConfigMap ${namespace}/annotated`]: 'kept',
      [`ConfigMap ${namespace}/wanted`]: 'kept',
      [`ConfigMap ${namespace}/doomed`]: 'deleted',
    });
    expect(await cluster.client.get(Namespace, { name: `${namespace}-inner` })).toBeDefined();
    expect(await cluster.client.get(CustomResourceDefinition, { name: 'gadgets.kept.example.com' })).toBeDefined();
  });

  test('a kept kind goes when annotated', async () => {
    const set = testSet(cluster, 'annotated-namespace');
    const namespace: KubeObject = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'goes', annotations: { [annotations.prune]: 'enabled' } },
    };
    const entries = inventory(await set.apply([namespace]));
    await pruneMembers({ client: set.client, entries });
    await cluster.eventually(
      'the Namespace is gone',
      async () => !(await cluster.client.get(Namespace, { name: 'goes' })),
    );
  });

  test('refuses more than the allowed share and touches nothing then', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const all = inventory(await set.apply(['a', 'b', 'c', 'd'].map((name) => configMap(namespace, name))));
    const three = leftOver(all, [all[0]!]);
    const refused = await pruneMembers({ client: set.client, entries: three, setSize: 4, maxShare: 0.5 });
    expect(refused).toMatchObject({ state: 'refused', members: [] });
    expect(refused.message).toBe('would prune 3 of 4 objects, more than the allowed 50 %');
    expect(await cluster.client.get(ConfigMap, { namespace, name: 'b' })).toBeDefined();
    const two = await pruneMembers({ client: set.client, entries: three.slice(0, 2), setSize: 4, maxShare: 0.5 });
    expect(two.state).toBe('pruned');
  });

  test('a kind that is not served any more has nothing left to prune', async () => {
    const result = await pruneMembers({
      client: cluster.client,
      entries: [{ group: 'gone.example.com', kind: 'Gadget', namespace: 'default', name: 'g' }],
    });
    expect(result.state).toBe('pruned');
    expect(pruned(result)).toEqual({ 'Gadget.gone.example.com default/g': 'gone' });
  });
});

test('an inventory keeps the uid it knows', () => {
  const entry = { group: '', kind: 'ConfigMap', namespace: 'n', name: 'a' };
  expect(mergeInventories([{ ...entry, uid: '1' }], [entry])).toEqual([{ ...entry, uid: '1' }]);
  expect(mergeInventories([{ ...entry, uid: '1' }], [{ ...entry, uid: '2' }])).toEqual([{ ...entry, uid: '2' }]);
});
