import { ConfigMap, type KubeObject } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { annotations, planSet, planText, refText, type InventoryEntry, type PlanOptions } from '../src/index.ts';
import { configMap, freshNamespace, gadgetDefinition, testSet, writes, type TestSet } from './set-on-cluster.ts';

let cluster: TestCluster;
beforeAll(async () => void (cluster = await testCluster()));
afterAll(() => cluster[Symbol.asyncDispose]());

async function plan(set: TestSet, objects: KubeObject[], options: Partial<PlanOptions> = {}) {
  set.requests.length = 0;
  const { client, fieldManager, membership } = set;
  const result = await planSet({ client, fieldManager, membership, objects, ...options });
  expect(writes(set.requests)).toEqual([]);
  return result;
}

const secret = (namespace: string, password: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: 's' },
  stringData: { password },
});

describe('a plan', () => {
  test('shows what would be created, changed field by field, pruned and kept, and writes nothing', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const applied = await set.apply([
      configMap(namespace, 'same', { v: '1' }),
      configMap(namespace, 'changes', { v: '1', goes: 'x' }),
      configMap(namespace, 'leaves'),
      configMap(namespace, 'stays', {}, { [annotations.prune]: 'disabled' }),
      configMap(namespace, 'ensured', { v: '1' }, { [annotations.mode]: 'EnsureExists' }),
    ]);
    const inventory: InventoryEntry[] = applied.members.map(({ ref, uid }) => ({ ...ref, ...(uid ? { uid } : {}) }));
    const result = await plan(
      set,
      [
        configMap(namespace, 'same', { v: '1' }),
        configMap(namespace, 'changes', { v: '2', comes: 'y' }),
        configMap(namespace, 'new'),
        configMap(namespace, 'ensured', { v: '2' }, { [annotations.mode]: 'EnsureExists' }),
      ],
      { inventory },
    );
    expect(Object.fromEntries(result.map((member) => [member.ref.name, member.action]))).toEqual({
      same: 'none',
      changes: 'change',
      new: 'create',
      ensured: 'none',
      leaves: 'prune',
      stays: 'keep',
    });
    expect(planText(result).split('\n')).toEqual([
      `~ ConfigMap ${namespace}/changes`,
      expect.stringMatching(/^ {4}data\.\w+: /),
      expect.stringMatching(/^ {4}data\.\w+: /),
      expect.stringMatching(/^ {4}data\.\w+: /),
      `+ ConfigMap ${namespace}/new`,
      `- ConfigMap ${namespace}/leaves`,
      `= ConfigMap ${namespace}/stays  (is kept by its kind or annotation)`,
      '1 to create, 1 to change, 1 to prune, 1 to keep, 2 unchanged',
    ]);
    expect(planText(result)).toContain('    data.v: 1 → 2');
    expect(await cluster.client.get(ConfigMap, { namespace, name: 'new' })).toBeUndefined();
  });

  test('never shows the value of a Secret, only that it changes', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    await set.apply([secret(namespace, 'canary-one')]);
    const result = await plan(set, [secret(namespace, 'canary-two')]);
    const text = `${planText(result)}${JSON.stringify(result)}`;
    for (const value of ['canary-one', 'canary-two'])
      for (const form of [value, Buffer.from(value).toString('base64')]) expect(text).not.toContain(form);
    expect(planText(result)).toMatch(/data\.password: \*\*\* \([0-9a-f]{6}\) → \*\*\* \([0-9a-f]{6}\)/);
  });

  test('says what cannot be known before a definition or a namespace exists', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const result = await plan(set, [
      gadgetDefinition('planned.example.com'),
      { apiVersion: 'planned.example.com/v1', kind: 'Gadget', metadata: { namespace, name: 'g' } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'planned' } },
      configMap('planned', 'inside'),
    ]);
    expect(Object.fromEntries(result.map((member) => [refText(member.ref), member.action]))).toEqual({
      'CustomResourceDefinition.apiextensions.k8s.io gadgets.planned.example.com': 'create',
      [`Gadget.planned.example.com ${namespace}/g`]: 'unknown',
      'Namespace planned': 'create',
      'ConfigMap planned/inside': 'unknown',
    });
    expect(planText(result)).toContain('unknown until that exists');
  });

  test('shows refusals, recreations and what adoption would not take', async () => {
    const namespace = await freshNamespace(cluster);
    const set = testSet(cluster, `${namespace}-set`);
    const sealed = (v: string, extra: Record<string, string> = {}): KubeObject => ({
      ...configMap(namespace, 'sealed', { v }, extra),
      immutable: true,
    });
    await set.apply([sealed('1')]);
    await cluster.client.create(configMap(namespace, 'foreign'));
    const result = await plan(
      set,
      [
        sealed('2', { [annotations.recreate]: 'enabled' }),
        configMap(namespace, 'foreign', { v: '1' }),
        configMap(namespace, 'bad', { 'no key': 'x' }),
      ],
      { adoption: 'MustMatch' },
    );
    expect(Object.fromEntries(result.map((member) => [member.ref.name, member.action]))).toEqual({
      sealed: 'recreate',
      foreign: 'refused',
      bad: 'refused',
    });
    expect(planText(await plan(set, [sealed('2')]))).toMatch(/^! ConfigMap .*immutable/);
  });
});
