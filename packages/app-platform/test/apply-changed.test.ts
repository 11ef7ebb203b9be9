import { ConfigMap, newObject, type Client, type KubeObject } from '@slipway/kube';
import { AppliedMemo } from '@slipway/manifests';
import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { applyChanged } from '../src/platform/apply-changed.ts';

const names = Array.from({ length: 12 }, (_, index) => `team-${index}`);
const configMap = (name: string, color = 'red'): KubeObject =>
  newObject(ConfigMap, { metadata: { name, namespace: 'default' }, data: { color } });

test('of many objects only those are applied that are not as they should be, and drift is healed', async () => {
  await using cluster = await testCluster({});
  const { client } = cluster;
  const writes: string[] = [];
  const counting = new Proxy(client, {
    get(target, method) {
      const value: unknown = Reflect.get(target, method);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (method === 'apply') writes.push((args[0] as KubeObject).metadata.name!);
        return Reflect.apply(value, target, args);
      };
    },
  }) as Client;
  const access = { client: counting, signal: new AbortController().signal, applied: new AppliedMemo() };
  const apply = async (objects: readonly KubeObject[]): Promise<string[]> => {
    writes.length = 0;
    await applyChanged(access, objects, { force: true });
    return writes.toSorted();
  };
  const all = names.map((name) => configMap(name));

  expect(await apply(all)).toEqual(names.toSorted());
  expect(await apply(all)).toEqual([]);

  // Somebody changes one, deletes another and touches a third without changing what is ours.
  await client.patch(
    ConfigMap,
    { namespace: 'default', name: 'team-3' },
    {
      type: 'merge',
      body: { data: { color: 'blue' } },
    },
  );
  await client.delete(ConfigMap, { namespace: 'default', name: 'team-4' });
  await client.patch(
    ConfigMap,
    { namespace: 'default', name: 'team-5' },
    {
      type: 'merge',
      body: { data: { theirs: 'x' } },
    },
  );
  expect(await apply(all)).toEqual(['team-3', 'team-4']);
  expect((await client.get(ConfigMap, { namespace: 'default', name: 'team-3' }))?.data).toEqual({ color: 'red' });
  expect((await client.get(ConfigMap, { namespace: 'default', name: 'team-5' }))?.data).toMatchObject({ theirs: 'x' });

  // What we want changes for one.
  expect(await apply([...all.slice(1), configMap('team-0', 'green')])).toEqual(['team-0']);

  // A process that starts anew knows it from the cluster.
  const fresh = { ...access, applied: new AppliedMemo() };
  writes.length = 0;
  await applyChanged(fresh, [...all.slice(1), configMap('team-0', 'green')], { force: true });
  expect(writes).toEqual([]);
});
