import { ConfigMap } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { annotations, memberLabel, pruneMembers, refOf, releaseMembers } from '../src/index.ts';
import { actions, configMap, freshNamespace, messages, testSet } from './set-on-cluster.ts';

let cluster: TestCluster;
beforeAll(async () => void (cluster = await testCluster()));
afterAll(() => cluster[Symbol.asyncDispose]());

test('an object two sets want differently belongs to the second once the first has released it', async () => {
  const namespace = await freshNamespace(cluster);
  const first = testSet(cluster, `${namespace}-first`);
  const second = testSet(cluster, `${namespace}-second`);
  const mine = configMap(namespace, 'a', { v: '1', only: 'first' });
  await first.apply([mine]);
  const theirs = configMap(namespace, 'a', { v: '2' });
  expect(messages(await second.apply([theirs]))).toContain('is a member of two sets that want different values');
  await releaseMembers({ ...first, entries: [refOf(mine)] });
  const released = await cluster.client.get(ConfigMap, { namespace, name: 'a' });
  expect(released?.data).toEqual({ v: '1', only: 'first' });
  expect(released?.metadata.labels ?? {}).toEqual({});
  expect(released?.metadata.managedFields ?? []).toEqual([]);
  expect(actions(await second.apply([theirs]))).toEqual({ [`ConfigMap ${namespace}/a`]: 'configured' });
  const taken = await cluster.client.get(ConfigMap, { namespace, name: 'a' });
  expect(taken?.data).toEqual({ v: '2', only: 'first' });
  expect(taken?.metadata.labels).toEqual({ [memberLabel]: 'true', [second.membership.label]: 'member' });
});

test('releasing a shared object leaves the other set in charge, and what others own', async () => {
  const namespace = await freshNamespace(cluster);
  const first = testSet(cluster, `${namespace}-first`);
  const second = testSet(cluster, `${namespace}-second`);
  const shared = configMap(namespace, 'a', { v: '1' });
  await first.apply([shared]);
  await second.apply([shared]);
  await cluster.client.patch(
    ConfigMap,
    { namespace, name: 'a' },
    { type: 'merge', body: { data: { more: 'by hand' } } },
    { fieldManager: 'somebody' },
  );
  await releaseMembers({ ...first, entries: [refOf(shared)] });
  const left = await cluster.client.get(ConfigMap, { namespace, name: 'a' });
  expect(left?.metadata.labels).toEqual({ [memberLabel]: 'true', [second.membership.label]: 'member' });
  expect(left?.metadata.managedFields?.map((entry) => entry.manager).sort()).toEqual([second.fieldManager, 'somebody']);
  expect(actions(await second.apply([configMap(namespace, 'a', { v: '2' })]))).toEqual({
    [`ConfigMap ${namespace}/a`]: 'configured',
  });
});

test('what a prune keeps is released, with the content it was only ensured to have', async () => {
  const namespace = await freshNamespace(cluster);
  const set = testSet(cluster, `${namespace}-set`);
  const kept = configMap(namespace, 'kept', { v: '1' }, { [annotations.prune]: 'disabled' });
  const ensured = configMap(
    namespace,
    'ensured',
    { v: '1' },
    { [annotations.prune]: 'disabled', [annotations.mode]: 'EnsureExists' },
  );
  const watched = configMap(
    namespace,
    'watched',
    { v: '1' },
    { [annotations.prune]: 'disabled', [annotations.drift]: 'Warn' },
  );
  const members = [kept, ensured, watched];
  await set.apply(members);
  const entries = members.map((member) => refOf(member));
  const result = await pruneMembers({ ...set, entries });
  expect(result.members.map(({ action }) => action)).toEqual(['kept', 'kept', 'kept']);
  for (const { metadata } of members) {
    const left = await cluster.client.get(ConfigMap, { namespace, name: metadata.name! });
    expect(left?.data).toEqual({ v: '1' });
    expect(left?.metadata.labels ?? {}).toEqual({});
    expect(left?.metadata.managedFields ?? []).toEqual([]);
    expect(left?.metadata.annotations?.[annotations.appliedDigest]).toBeUndefined();
  }
  // A second time there is nothing left to give up.
  set.requests.length = 0;
  await pruneMembers({ ...set, entries });
  expect(set.requests.filter((request) => request.startsWith('PATCH'))).toEqual([]);
});

test('an object somebody writes at the same moment is released all the same', async () => {
  const namespace = await freshNamespace(cluster);
  const mine = configMap(namespace, 'a', { v: '1' });
  let disturbances = 2;
  const set = testSet(cluster, `${namespace}-set`, async (request) => {
    if (!request.startsWith('PATCH') || disturbances === 0) return;
    disturbances -= 1;
    await cluster.client.patch(
      ConfigMap,
      { namespace, name: 'a' },
      { type: 'merge', body: { data: { n: String(disturbances) } } },
    );
  });
  await testSet(cluster, `${namespace}-set`).apply([mine]);
  await releaseMembers({ ...set, entries: [refOf(mine)] });
  const left = await cluster.client.get(ConfigMap, { namespace, name: 'a' });
  expect(left?.metadata.labels ?? {}).toEqual({});
  expect(left?.data).toEqual({ v: '1', n: '0' });
});
