import { ConfigMap, Secret, type ObjectKey } from '@slipway/kube';
import { controller } from '@slipway/runtime';
import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { MemberWatch } from '../src/index.ts';
import { configMap, freshNamespace, testSet } from './set-on-cluster.ts';

test('a controller is woken by members of its sets and by nothing else', async () => {
  await using cluster = await testCluster();
  const namespace = await freshNamespace(cluster);
  const set = testSet(cluster, 'watched');
  const other = testSet(cluster, 'other');
  await set.apply([configMap(namespace, 'a', { v: '1' }), configMap(namespace, 'b', { v: '1' })]);
  await other.apply([configMap(namespace, 'foreign')]);
  await cluster.client.create(configMap(namespace, 'nobodys'));

  const woken: string[] = [];
  const watch = new MemberWatch((event) =>
    event.meta.labels?.[set.membership.label] ? [{ name: `${event.type} ${event.key.name}` }] : [],
  );
  await cluster.run([
    controller({
      name: 'members',
      for: Secret,
      scope: { labelSelector: 'no=such' },
      sources: [watch],
      async reconcile(_context, key: ObjectKey) {
        woken.push(key.name);
        return undefined;
      },
    }),
  ]);
  // Known only after the start, as for a controller that learns its kinds from what it reconciles; twice costs nothing.
  await watch.follow({ name: 'owner' }, [ConfigMap]);
  await watch.follow({ name: 'owner' }, [ConfigMap]);

  const edit = (name: string) =>
    cluster.client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { data: { v: 'edited' } } });
  await edit('a');
  await cluster.eventually('an edit is noticed', () => woken.includes('updated a'));
  await edit('foreign');
  await edit('nobodys');
  await cluster.client.delete(ConfigMap, { namespace, name: 'b' });
  await cluster.eventually('a deletion is noticed', () => woken.includes('deleted b'));
  expect(new Set(woken)).toEqual(new Set(['updated a', 'deleted b']));
});

test('a run of changes wakes the controller once', async () => {
  await using cluster = await testCluster();
  const namespace = await freshNamespace(cluster);
  const set = testSet(cluster, 'crowd');
  const members = (v: string) => Array.from({ length: 20 }, (_, i) => configMap(namespace, `m${i}`, { v }));
  await set.apply(members('1'));
  const changes = new Set<string>();
  let woken = 0;
  const watch = new MemberWatch((event) => {
    changes.add(event.key.name);
    return [{ name: 'owner' }];
  });
  await watch.follow({ name: 'owner' }, [ConfigMap]);
  const running = await cluster.run([
    controller({
      name: 'crowd',
      for: Secret,
      scope: { labelSelector: 'no=such' },
      sources: [watch],
      async reconcile() {
        woken += 1;
      },
    }),
  ]);
  await cluster.eventually('everything is loaded', () => {
    const rows = running.manager.cluster().cache.status();
    return rows.length === 2 && rows.every(({ synced }) => synced);
  });
  await set.apply(members('2'));
  await cluster.eventually('all changes are seen', () => changes.size === 20 && woken > 0);
  expect(woken).toBeLessThan(5);
});
