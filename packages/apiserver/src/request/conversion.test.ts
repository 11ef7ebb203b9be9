import { expect, it } from 'vitest';
import { startCluster } from '../cluster.ts';
import type { ApiObject } from '../object.ts';
import { testClient } from '../test-client.ts';

const schema = {
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  },
};
const crd: ApiObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v2', served: true, storage: false, schema },
    ],
  },
};
const v1 = '/apis/example.com/v1/namespaces/default/widgets';
const v2 = '/apis/example.com/v2/namespaces/default/widgets';
const widget = (name: string, size: number) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size },
});

/** Puts a slow conversion between v1 and v2: sizes are ten times as large in v2. */
async function prepared() {
  const cluster = await startCluster({ controllers: 'none', crds: [crd] });
  const { registry } = cluster.server;
  const resource = registry.byPath('example.com', 'v2', 'widgets')!;
  const calls: number[] = [];
  const fail = { next: false };
  const scaled = (factor: number, apiVersion: string) => async (objects: readonly ApiObject[]) => {
    calls.push(objects.length);
    await Promise.resolve();
    if (fail.next) throw new Error('the webhook is down');
    return objects.map((object) => {
      const { size } = object['spec'] as { size: number };
      return { ...object, apiVersion, spec: { size: size * factor } };
    });
  };
  const conversion = { fromStorage: scaled(10, 'example.com/v2'), toStorage: scaled(0.1, 'example.com/v1') };
  registry.put([{ ...resource, schema: resource.schema, strategy: resource.strategy, conversion }]);
  return { cluster, client: testClient(cluster), calls, fail, [Symbol.asyncDispose]: () => cluster.stop() };
}

it('reads and writes go through the conversion, lists with a single call', async () => {
  await using plane = await prepared();
  const { client, calls } = plane;
  for (const name of ['a', 'b', 'c']) await client.post(v1, widget(name, 1));
  const list = await client.get(v2);
  expect(list.body.items.map(({ spec }) => spec)).toEqual([{ size: 10 }, { size: 10 }, { size: 10 }]);
  expect(calls).toEqual([3]);
  const written = await client.put(`${v2}/a`, { ...list.body.items[0]!, spec: { size: 50 } });
  expect(written.body['spec']).toEqual({ size: 50 });
  expect((await client.get(`${v1}/a`)).body).toMatchObject({ apiVersion: 'example.com/v1', spec: { size: 5 } });
});

it('watchers in another version get converted events in order', async () => {
  await using plane = await prepared();
  const { client, cluster } = plane;
  const watch = await client.watch(`${v2}?watch=true&resourceVersion=${cluster.revision}`);
  await client.post(v1, widget('a', 1));
  await client.merge(`${v1}/a`, { spec: { size: 2 } });
  await client.delete(`${v1}/a`);
  await expect.poll(() => watch.events.length).toBe(3);
  expect(watch.events.map(({ type, object }) => `${type} ${(object['spec'] as { size: number }).size}`)).toEqual([
    'ADDED 10',
    'MODIFIED 20',
    'DELETED 20',
  ]);
});

it('a conversion that failed once is tried again', async () => {
  await using plane = await prepared();
  const { client, fail } = plane;
  await client.post(v1, widget('a', 1));
  fail.next = true;
  expect((await client.get(`${v2}/a`)).status).toBe(500);
  fail.next = false;
  expect((await client.get(`${v2}/a`)).body['spec']).toEqual({ size: 10 });
});

it('writers that have to wait for a conversion do not lose each other', async () => {
  await using plane = await prepared();
  const { client } = plane;
  await client.post(v1, widget('a', 1));
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => client.merge(`${v2}/a`, { metadata: { labels: { [`l${index}`]: 'x' } } })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(Object.keys((await client.get(`${v1}/a`)).body.metadata.labels!)).toHaveLength(8);
});
