import { testCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import {
  AnyFields,
  applyDefaults,
  Conditions,
  ConfigMap,
  CustomResourceDefinition,
  defineKind,
  findCondition,
  IntOrString,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isUnknownKind,
  ListMap,
  Namespace,
  newObject,
  Nullable,
  ready,
  Secret,
  Time,
  toCustomResourceDefinition,
  Type,
  validateObject,
  type KubeError,
  type ObjectOf,
} from '../src/index.ts';

const Website = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  shortNames: ['web'],
  spec: Type.Object({
    image: Type.String({ minLength: 1, maxLength: 50, pattern: '^[a-z]' }),
    replicas: Type.Integer({ minimum: 0, maximum: 10, default: 1 }),
    tier: Type.Optional(Type.Union([Type.Literal('free'), Type.Literal('paid')])),
    port: Type.Optional(IntOrString()),
    until: Type.Optional(Nullable(Time())),
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    values: Type.Optional(AnyFields()),
    hosts: Type.Optional(ListMap(Type.Object({ name: Type.String(), weight: Type.Integer({ default: 1 }) }), ['name'])),
    source: Type.Optional(
      Type.Union([
        Type.Object({ type: Type.Literal('git'), url: Type.String() }),
        Type.Object({ type: Type.Literal('none') }),
      ]),
    ),
  }),
  status: Type.Object({
    url: Type.Optional(Type.String()),
    observedGeneration: Type.Optional(Type.Integer()),
    conditions: Conditions,
  }),
  columns: [{ name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' }],
});
type Website = ObjectOf<typeof Website>;

const site = (name: string, spec: Partial<Website['spec']> = {}): Website =>
  newObject(Website, { metadata: { name, namespace: 'default' }, spec: { image: 'nginx', replicas: 1, ...spec } });
const configMap = (name: string, data: Record<string, string> = {}) =>
  newObject(ConfigMap, { metadata: { name, namespace: 'default', labels: { app: 'test' } }, data });
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as KubeError,
  );

describe('a client on a cluster', () => {
  test('creates, reads, updates, patches and deletes', async () => {
    await using cluster = await testCluster();
    const { client } = cluster;
    const created = await client.create(configMap('a', { x: '1' }));
    expect(created.metadata.uid).toBeTruthy();
    expect(isAlreadyExists(await caught(client.create(configMap('a'))))).toBe(true);
    const key = { namespace: 'default', name: 'a' };
    expect((await client.get(ConfigMap, key))?.data).toEqual({ x: '1' });
    expect(await client.get(ConfigMap, { ...key, name: 'none' })).toBeUndefined();

    const updated = await client.update({ ...created, data: { x: '2' } });
    expect(updated.data).toEqual({ x: '2' });
    expect(isConflict(await caught(client.update({ ...created, data: { x: '3' } })))).toBe(true);

    const merged = await client.patch(ConfigMap, key, { type: 'merge', body: { data: { y: '1', x: null } } });
    expect(merged.data).toEqual({ y: '1' });
    const patched = await client.patch(ConfigMap, key, {
      type: 'json',
      operations: [{ op: 'add', path: '/data/z', value: '3' }],
    });
    expect(patched.data).toEqual({ y: '1', z: '3' });

    const wrongUid = await caught(client.delete(ConfigMap, key, { preconditions: { uid: 'other' } }));
    expect(isConflict(wrongUid)).toBe(true);
    expect(await client.delete(ConfigMap, key, { dryRun: true })).toMatchObject({ state: 'gone' });
    expect(await client.delete(ConfigMap, key)).toMatchObject({ state: 'gone', uid: created.metadata.uid });
    expect(await client.delete(ConfigMap, key)).toBeUndefined();
  });

  test('applies fields of its own and leaves those of others alone', async () => {
    await using cluster = await testCluster();
    const { client } = cluster;
    const owner = await client.create(configMap('owner'));
    await client.apply(configMap('child', { mine: '1' }), { owner });
    await client.apply(configMap('child', { theirs: '2' }), { fieldManager: 'other' });
    const mine = await client.apply(configMap('child', { mine: '3' }), { owner });
    expect(mine.data).toEqual({ mine: '3', theirs: '2' });
    expect(mine.metadata.ownerReferences).toMatchObject([{ name: 'owner', uid: owner.metadata.uid, controller: true }]);
    const fight = await caught(
      client.apply(configMap('child', { mine: '4' }), { fieldManager: 'other', force: false }),
    );
    expect(isConflict(fight)).toBe(true);
    expect((await client.apply(configMap('dry'), { dryRun: true })).metadata.uid).toBeTruthy();
    expect(await client.get(ConfigMap, { namespace: 'default', name: 'dry' })).toBeUndefined();
  });

  test('lists page by page and watches from there', async () => {
    await using cluster = await testCluster();
    const { client } = cluster;
    const query = { namespace: 'default', labelSelector: { app: 'test' } };
    for (let index = 0; index < 7; index += 1) await client.create(configMap(`m${index}`));
    const names: string[] = [];
    for await (const item of client.list(ConfigMap, { ...query, limit: 3 })) {
      expect(item.kind).toBe('ConfigMap');
      names.push(item.metadata.name!);
    }
    expect(names).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6']);
    const page = await client.listPage(ConfigMap, { ...query, limit: 3 });
    expect(page.items).toHaveLength(3);
    expect(page.continue).toBeTruthy();

    const { resourceVersion } = await client.listPage(ConfigMap, query);
    await client.create(configMap('new'));
    await client.delete(ConfigMap, { namespace: 'default', name: 'm0' });
    const seen: string[] = [];
    for await (const event of client.watch(ConfigMap, { ...query, resourceVersion })) {
      if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['ADDED new', 'DELETED m0']);
    await client.deleteCollection(ConfigMap, query);
    expect((await client.listPage(ConfigMap, query)).items).toEqual([]);
  });

  test('finds a kind that appears later, and says so while it is missing', async () => {
    await using cluster = await testCluster();
    const { client } = cluster;
    expect(isUnknownKind(await caught(client.get(Website, { namespace: 'default', name: 'x' })))).toBe(true);
    expect(isUnknownKind(await caught(client.resolveGroupKind('example.com', 'Website')))).toBe(true);
    await cluster.install(Website);
    const kind = await cluster.eventually('the kind', async () => {
      try {
        return await client.resolveGroupKind('example.com', 'Website');
      } catch (error) {
        if (isUnknownKind(error)) return undefined;
        throw error;
      }
    });
    expect(kind).toMatchObject({ plural: 'websites', scope: 'Namespaced', version: 'v1' });
    const found = (await client.discover({ fresh: true })).find((r) => r.kind === 'Website');
    expect(found).toMatchObject({ shortNames: ['web'], subresources: ['status'], preferred: true });
    expect((await client.serverVersion()).major).toBe('1');
    expect(await client.canI({ verb: 'delete', resource: 'pods', namespace: 'default' })).toMatchObject({
      allowed: true,
    });
  });

  test('adds and removes finalizers beside those of others', async () => {
    await using cluster = await testCluster();
    const { client } = cluster;
    const before = await client.create(configMap('a'));
    const first = await client.addFinalizer(before, 'example.com/one');
    const second = await client.addFinalizer(before, 'example.com/two');
    expect(second.metadata.finalizers).toEqual(['example.com/one', 'example.com/two']);
    const key = { namespace: 'default', name: 'a' };
    expect(await client.delete(ConfigMap, key)).toMatchObject({ state: 'terminating' });
    await client.removeFinalizer(second, 'example.com/one');
    expect((await client.get(ConfigMap, key))?.metadata.finalizers).toEqual(['example.com/two']);
    await client.removeFinalizer(first, 'example.com/two');
    expect((await client.get(ConfigMap, key))?.metadata.finalizers).toEqual(['example.com/two']);
    await client.removeFinalizer(second, 'example.com/two');
    expect(await client.get(ConfigMap, key)).toBeUndefined();
    await client.removeFinalizer(second, 'example.com/two');
  });

  test('writes status once, with conditions that keep their time', async () => {
    await using cluster = await testCluster({ kinds: [Website] });
    const { client } = cluster;
    await client.create(site('a'));
    const created = (await client.get(Website, { namespace: 'default', name: 'a' }))!;
    const first = await client.setStatus(created, { url: 'x', conditions: [ready(true, 'Deployed', 'running')] });
    expect(first.status).toMatchObject({ url: 'x', observedGeneration: 1 });
    expect(findCondition(first, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 1 });
    const again = await client.setStatus(first, { url: 'x', conditions: [ready(true, 'Deployed', 'running')] });
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(isConflict(await caught(client.setStatus(created, { url: 'y' })))).toBe(true);
    const forced = await client.setStatus({ ...created, status: first.status }, { url: 'y' }, { precondition: 'uid' });
    expect(forced.status?.url).toBe('y');
  });

  test('tells errors apart', async () => {
    await using cluster = await testCluster({ kinds: [Website] });
    const { client } = cluster;
    const invalid = await caught(client.create(site('a', { replicas: -1 })));
    expect(isInvalid(invalid)).toBe(true);
    expect(invalid?.details?.causes?.[0]).toMatchObject({ field: 'spec.replicas' });
    const nowhere = await caught(client.create({ ...configMap('a'), metadata: { name: 'a', namespace: 'missing' } }));
    expect(isNotFound(nowhere)).toBe(true);
    expect(isUnknownKind(nowhere)).toBe(false);
    expect(isForbidden(await caught(client.delete(Namespace, { name: 'default' })))).toBe(true);
    const secret = newObject(Secret, {
      metadata: { name: 's', namespace: 'default' },
      data: { a: '***not base64***' },
    });
    const bad = await caught(client.create(secret));
    expect(bad?.code).toBeGreaterThanOrEqual(400);
    expect(String(bad)).not.toContain('***not base64***');
  });
});

describe('a CRD made from code', () => {
  test('is accepted, and the server fills in the defaults we fill in', async () => {
    await using cluster = await testCluster({ kinds: [Website] });
    const { client } = cluster;
    const name = `${Website.plural}.${Website.group}`;
    const stored = await client.get(CustomResourceDefinition, { name });
    expect(stored?.spec.versions[0]?.schema).toEqual(toCustomResourceDefinition(Website).spec.versions[0]?.schema);
    for (const condition of ['NonStructuralSchema', 'Terminating'])
      expect(findCondition(stored, condition)?.status ?? 'False').toBe('False');
    const sparse = { ...site('a'), spec: { image: 'a', hosts: [{ name: 'x' }] } } as unknown as Website;
    const created = await client.create(sparse);
    expect(created.spec).toEqual(applyDefaults(Website, sparse).spec);
  });

  const specs: [name: string, spec: Record<string, unknown>][] = [
    ['right', { image: 'a', tier: 'free', port: 'http', until: null, labels: { a: 'b' }, values: { x: [1] } }],
    ['missing', {}],
    ['wrong type', { image: 3 }],
    ['too short', { image: '' }],
    ['pattern', { image: 'A' }],
    ['too long', { image: 'a'.repeat(51) }],
    ['minimum', { image: 'a', replicas: -1 }],
    ['maximum', { image: 'a', replicas: 11 }],
    ['enum', { image: 'a', tier: 'gold' }],
    ['int or string', { image: 'a', port: true }],
    ['map value', { image: 'a', labels: { a: 1 } }],
    ['time', { image: 'a', until: 'soon' }],
    ['duplicate key', { image: 'a', hosts: [{ name: 'x' }, { name: 'x' }] }],
    ['missing in list', { image: 'a', hosts: [{}] }],
    ['variant', { image: 'a', source: { type: 'git', url: 'x' } }],
    ['no variant', { image: 'a', source: { type: 'git' } }],
    ['unknown', { image: 'a', imge: 'b' }],
  ];

  test('judges objects as local validation does, and names the same fields', async () => {
    await using cluster = await testCluster({ kinds: [Website] });
    const { client } = cluster;
    const disagreements: unknown[] = [];
    for (const [name, spec] of specs) {
      const object = { ...site('x'), spec } as unknown as Website;
      const local = validateObject(Website, applyDefaults(Website, object));
      const error = await caught(client.create(object, { dryRun: true, fieldValidation: 'Strict' }));
      if ((local.length === 0) !== (error === undefined)) disagreements.push([name, local, error?.message]);
      const fields = new Set((error?.details?.causes ?? []).map((cause) => cause.field));
      for (const { field } of local)
        if (isInvalid(error) && ![...fields].some((other) => other?.startsWith(field)))
          disagreements.push([name, field, [...fields]]);
    }
    expect(disagreements).toEqual([]);
  });
});
