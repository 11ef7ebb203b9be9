import { ConfigMap, type KubeObject } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { actions, configMap, freshNamespace, messages, testSet, writes } from './set-on-cluster.ts';

let cluster: TestCluster;
beforeAll(async () => void (cluster = await testCluster()));
afterAll(() => cluster[Symbol.asyncDispose]());

/** An object controlled by another one. */
async function controlled(namespace: string): Promise<void> {
  const boss = await cluster.client.create(configMap(namespace, 'boss'));
  await cluster.client.create({
    ...configMap(namespace, 'a', { v: 'theirs' }),
    metadata: {
      namespace,
      name: 'a',
      ownerReferences: [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'boss', uid: boss.metadata.uid!, controller: true },
      ],
    },
  });
}

const valueOf = async (namespace: string) => (await cluster.client.get(ConfigMap, { namespace, name: 'a' }))?.data;

describe('objects that exist already', () => {
  test('MustMatch takes none but its own', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    await cluster.client.create(configMap(namespace, 'a', { v: 'theirs' }));
    const refused = await set.apply([configMap(namespace, 'a', { v: 'ours' })], { adoption: 'MustMatch' });
    expect(actions(refused)).toEqual({ [`ConfigMap ${namespace}/a`]: 'failed' });
    expect(messages(refused)).toContain('does not belong to this set; delete it, rename the member, or allow adoption');
    expect(writes(set.requests)).toEqual([]);
    await cluster.client.delete(ConfigMap, { namespace, name: 'a' });
    await set.apply([configMap(namespace, 'a', { v: 'ours' })], { adoption: 'MustMatch' });
    const second = await set.apply([configMap(namespace, 'a', { v: 'ours, again' })], { adoption: 'MustMatch' });
    expect(actions(second)).toEqual({ [`ConfigMap ${namespace}/a`]: 'configured' });
  });

  test('AdoptIfUnowned takes what nobody claims, and names who claims the rest', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    await controlled(namespace);
    await cluster.client.create(configMap(namespace, 'free'));
    await cluster.client.create(configMap(namespace, 'helm', {}, { 'meta.helm.sh/release-name': 'shop' }));
    const result = await set.apply(['a', 'free', 'helm'].map((name) => configMap(namespace, name, { v: 'ours' })));
    expect(actions(result)).toEqual({
      [`ConfigMap ${namespace}/a`]: 'failed',
      [`ConfigMap ${namespace}/free`]: 'configured',
      [`ConfigMap ${namespace}/helm`]: 'failed',
    });
    expect(messages(result)).toContain('belongs to ConfigMap boss');
    expect(messages(result)).toContain('belongs to Helm release shop');
    expect(await valueOf(namespace)).toEqual({ v: 'theirs' });
  });

  test('AdoptAll takes everything', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    await controlled(namespace);
    const result = await set.apply([configMap(namespace, 'a', { v: 'ours' })], { adoption: 'AdoptAll' });
    expect(result.state).toBe('applied');
    expect(await valueOf(namespace)).toEqual({ v: 'ours' });
  });

  test('fields the own manager wrote with PUT do not outlive the manifest', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    await cluster.client.create(configMap(namespace, 'a', { keep: '1', drop: '1' }), {
      fieldManager: set.fieldManager,
    });
    await set.apply([configMap(namespace, 'a', { keep: '1' })]);
    expect(await valueOf(namespace)).toEqual({ keep: '1' });
  });
});

describe('an object in two sets', () => {
  const shared = (namespace: string, v: string): KubeObject => configMap(namespace, 'a', { v });

  test('is shared while the sets agree', async () => {
    const namespace = await freshNamespace(cluster);
    const one = testSet(cluster, `${namespace}-one`);
    const two = testSet(cluster, `${namespace}-two`);
    await one.apply([shared(namespace, '1')]);
    expect((await two.apply([shared(namespace, '1')])).state).toBe('applied');
    const labels = (await cluster.client.get(ConfigMap, { namespace, name: 'a' }))?.metadata.labels ?? {};
    expect(Object.keys(labels)).toEqual(expect.arrayContaining([one.membership.label, two.membership.label]));
    for (const set of [one, two]) {
      set.requests.length = 0;
      expect(actions(await set.apply([shared(namespace, '1')]))).toEqual({ [`ConfigMap ${namespace}/a`]: 'unchanged' });
      expect(writes(set.requests)).toEqual([]);
    }
  });

  test('fails, with both named, when they disagree, and keeps the value it had', async () => {
    const namespace = await freshNamespace(cluster);
    const one = testSet(cluster, `${namespace}-one`);
    const two = testSet(cluster, `${namespace}-two`);
    await one.apply([shared(namespace, '1')]);
    const refused = await two.apply([shared(namespace, '2')]);
    expect(refused.state).toBe('failed');
    expect(messages(refused)).toContain(`${namespace}-two and ${namespace}-one`);
    expect(await valueOf(namespace)).toEqual({ v: '1' });
    expect((await two.apply([shared(namespace, '2')], { adoption: 'AdoptAll' })).state).toBe('applied');
    expect(await valueOf(namespace)).toEqual({ v: '2' });
  });

  test("somebody's edit of a shared object is corrected by either set", async () => {
    const namespace = await freshNamespace(cluster);
    const one = testSet(cluster, `${namespace}-one`);
    const two = testSet(cluster, `${namespace}-two`);
    await one.apply([shared(namespace, '1')]);
    await two.apply([shared(namespace, '1')]);
    await cluster.client.patch(
      ConfigMap,
      { namespace, name: 'a' },
      { type: 'merge', body: { data: { v: 'edited' } } },
      { fieldManager: 'kubectl-edit' },
    );
    expect(actions(await two.apply([shared(namespace, '1')]))).toEqual({ [`ConfigMap ${namespace}/a`]: 'configured' });
    expect(await valueOf(namespace)).toEqual({ v: '1' });
    expect((await one.apply([shared(namespace, '1')])).state).toBe('applied');
  });
});
