import { ConfigMap, CustomResourceDefinition, Namespace, newObject, type KubeObject } from '@slipway/kube';
import { expect, test } from 'vitest';

import { testCluster } from '../src/index.ts';

test('a definition among the objects may be there from the test before, and objects of its kind can follow', async () => {
  const definition = newObject(CustomResourceDefinition, {
    metadata: { name: 'things.test-cluster.example' },
    spec: {
      group: 'test-cluster.example',
      names: { kind: 'Thing', plural: 'things' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const key = { namespace: 'default', name: 'one' };
  const thing: KubeObject = { apiVersion: 'test-cluster.example/v1', kind: 'Thing', metadata: key };
  for (const round of ['the first test', 'the second test']) {
    await using cluster = await testCluster({ controllers: 'none', objects: [definition, thing] });
    const kind = await cluster.client.resolve(thing.apiVersion, thing.kind);
    expect([round, await cluster.client.get(kind, key)]).toEqual([round, expect.objectContaining({ kind: 'Thing' })]);
  }
});

test('a namespace that the next test makes too is empty and as it was made, and gone for one that does not', async () => {
  const name = 'place';
  const objects = [newObject(Namespace, { metadata: { name } })];
  const left = { namespace: name, name: 'left' };
  {
    await using first = await testCluster({ objects });
    await first.client.create(newObject(ConfigMap, { metadata: left }));
    await first.client.patch(Namespace, { name }, { type: 'merge', body: { metadata: { labels: { left: 'here' } } } });
  }
  {
    await using second = await testCluster({ objects });
    expect(await second.client.get(ConfigMap, left)).toBeUndefined();
    expect((await second.client.get(Namespace, { name }))!.metadata.labels).not.toHaveProperty('left');
  }
  await using third = await testCluster();
  expect(await third.client.get(Namespace, { name })).toBeUndefined();
});
