import { expect, test } from 'vitest';
import type { ApiObject, OwnerReference } from '../object.ts';
import { configMap, configMaps, ownedBy, startControlPlane, type ControlPlane } from './control-plane.fixture.ts';

const NAMESPACE = 'gc';

async function prepared(): Promise<ControlPlane> {
  const plane = await startControlPlane();
  await plane.createNamespace(NAMESPACE);
  await plane.clock.settle();
  return plane;
}

function create(plane: ControlPlane, name: string, owners: OwnerReference[] = [], finalizers: string[] = []) {
  return plane.client.create(
    { ...configMaps, namespace: NAMESPACE },
    configMap(name, NAMESPACE, { ownerReferences: owners, finalizers }),
  );
}

function at(name: string) {
  return { ...configMaps, namespace: NAMESPACE, name };
}

async function removeFinalizers(plane: ControlPlane, name: string): Promise<void> {
  await plane.client.patch(at(name), 'merge', { metadata: { finalizers: null } });
  await plane.clock.settle();
}

test('background: dependents follow their owner, those with finalizers wait for them', async () => {
  await using plane = await prepared();
  const owner = await create(plane, 'own1');
  await create(plane, 'dep1', [ownedBy(owner, { controller: true })]);
  await create(plane, 'dep2', [ownedBy(owner, { controller: true })], ['e.com/x']);
  await plane.clock.settle();
  expect(await plane.find(at('dep1'))).toBeDefined();

  await plane.client.delete(at('own1'));
  await plane.clock.settle();

  expect(await plane.find(at('dep1'))).toBeUndefined();
  expect((await plane.find(at('dep2')))?.metadata.deletionTimestamp).toBeDefined();
  await removeFinalizers(plane, 'dep2');
  expect(await plane.find(at('dep2'))).toBeUndefined();
  expect(plane.complaints).toEqual([]);
});

test('foreground: the owner waits for dependents that block it, not for others', async () => {
  await using plane = await prepared();
  const owner = await create(plane, 'own2');
  await create(plane, 'dep3', [ownedBy(owner, { blockOwnerDeletion: true })], ['e.com/x']);
  await create(plane, 'dep4', [ownedBy(owner)], ['e.com/x']);
  await plane.clock.settle();

  await plane.client.delete(at('own2'), { propagationPolicy: 'Foreground' });
  await plane.clock.settle();

  expect((await plane.find(at('own2')))?.metadata.finalizers).toEqual(['foregroundDeletion']);
  expect((await plane.find(at('dep3')))?.metadata.deletionTimestamp).toBeDefined();
  expect((await plane.find(at('dep4')))?.metadata.deletionTimestamp).toBeDefined();

  await removeFinalizers(plane, 'dep3');
  expect(await plane.find(at('own2'))).toBeUndefined();
  expect(await plane.find(at('dep4'))).toBeDefined();
});

test('foreground goes down whole trees, leaves first', async () => {
  await using plane = await prepared();
  const gone: string[] = [];
  plane.cluster.observe((change) => {
    if (change.type === 'DELETED' && change.storageId === 'configmaps') {
      gone.push(change.object.metadata.name!);
    }
  });
  const root = await create(plane, 'root');
  const middle = await create(plane, 'middle', [ownedBy(root, { blockOwnerDeletion: true })]);
  await create(plane, 'leaf', [ownedBy(middle, { blockOwnerDeletion: true })]);
  await plane.clock.settle();

  await plane.client.delete(at('root'), { propagationPolicy: 'Foreground' });
  await plane.clock.settle();

  expect(gone).toEqual(['leaf', 'middle', 'root']);
});

test('orphan: references are cut before the owner goes', async () => {
  await using plane = await prepared();
  const owner = await create(plane, 'own3');
  await create(plane, 'dep5', [ownedBy(owner)]);
  await plane.clock.settle();

  await plane.client.delete(at('own3'), { propagationPolicy: 'Orphan' });
  await plane.clock.settle();

  expect(await plane.find(at('own3'))).toBeUndefined();
  expect((await plane.find(at('dep5')))?.metadata.ownerReferences).toBeUndefined();
});

test('an owner that never existed counts as gone', async () => {
  await using plane = await prepared();
  await create(plane, 'dangling', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'no-such-uid' }]);
  await plane.clock.settle();
  expect(await plane.find(at('dangling'))).toBeUndefined();
});

test('an owner of the same name with another uid counts as gone', async () => {
  await using plane = await prepared();
  const owner = await create(plane, 'reborn');
  await create(plane, 'child', [{ ...ownedBy(owner), uid: 'uid-of-the-one-before' }]);
  await plane.clock.settle();
  expect(await plane.find(at('child'))).toBeUndefined();
  expect(await plane.find(at('reborn'))).toBeDefined();
});

test('one living owner is enough; the reference to the dead one goes', async () => {
  await using plane = await prepared();
  const first = await create(plane, 'first');
  const second = await create(plane, 'second');
  await create(plane, 'shared', [ownedBy(first), ownedBy(second)]);
  await plane.clock.settle();

  await plane.client.delete(at('first'));
  await plane.clock.settle();
  expect((await plane.find(at('shared')))?.metadata.ownerReferences).toEqual([ownedBy(second)]);

  await plane.client.delete(at('second'));
  await plane.clock.settle();
  expect(await plane.find(at('shared'))).toBeUndefined();
});

test('an owner in another namespace counts as absent', async () => {
  await using plane = await prepared();
  const stranger = await plane.client.create({ ...configMaps, namespace: 'default' }, configMap('stranger', 'default'));
  await create(plane, 'child', [ownedBy(stranger)]);
  await plane.clock.settle();
  expect(await plane.find(at('child'))).toBeUndefined();
});

test('cluster-scoped objects may own namespaced ones; the other way round is left alone', async () => {
  await using plane = await prepared();
  const namespace = await plane.find({ group: '', version: 'v1', plural: 'namespaces', name: NAMESPACE });
  await create(plane, 'of-the-namespace', [ownedBy(namespace!)]);
  const owner = await create(plane, 'small');
  const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles' };
  const role: ApiObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'big', ownerReferences: [ownedBy(owner)] },
    rules: [],
  };
  await plane.client.create(roles, role);
  await plane.client.delete(at('small'));
  await plane.clock.settle();
  expect(await plane.find(at('of-the-namespace'))).toBeDefined();
  expect(await plane.find({ ...roles, name: 'big' })).toBeDefined();
});

test('two objects that own each other both go', async () => {
  await using plane = await prepared();
  const one = await create(plane, 'one');
  const two = await create(plane, 'two', [ownedBy(one, { blockOwnerDeletion: true })]);
  await plane.client.patch(at('one'), 'merge', {
    metadata: { ownerReferences: [{ ...ownedBy(two), blockOwnerDeletion: true }] },
  });
  await plane.clock.settle();

  await plane.client.delete(at('one'), { propagationPolicy: 'Foreground' });
  await plane.clock.settle();

  expect(await plane.find(at('one'))).toBeUndefined();
  expect(await plane.find(at('two'))).toBeUndefined();
});

test('controllers live through watches that break and lists that fail', async () => {
  const watches = { match: { verb: 'watch' }, action: { type: 'killWatch', afterEvents: 1 } } as const;
  const lists = { match: { verb: 'list', times: 20 }, action: { type: 'error', status: 500 } } as const;
  await using plane = await startControlPlane({}, { faults: [watches, lists] });
  await plane.clock.advance(5_000);
  await plane.createNamespace(NAMESPACE);
  const owner = await create(plane, 'owner');
  await create(plane, 'child', [ownedBy(owner)]);
  await plane.clock.advance(5_000);
  expect(await plane.find(at('child'))).toBeDefined();
  await plane.client.delete(at('owner'));
  await plane.clock.advance(5_000);
  expect(await plane.find(at('child'))).toBeUndefined();
});

test('a watch that always ends at once does not hang the server', async () => {
  const watches = { match: { verb: 'watch' }, action: { type: 'killWatch', afterEvents: 0 } } as const;
  await using plane = await startControlPlane({}, { faults: [watches] });
  await plane.createNamespace(NAMESPACE);
  await create(plane, 'dangling', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'no-such-uid' }]);
  await plane.clock.advance(3_000);
  expect(await plane.find(at('dangling'))).toBeUndefined();
});
