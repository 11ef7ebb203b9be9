import { expect, test } from 'vitest';
import { ApiError } from '../api-error.ts';
import { configMap, configMaps, startControlPlane } from './control-plane.fixture.ts';

const namespaces = { group: '', version: 'v1', plural: 'namespaces' };

interface NamespaceStatus {
  phase: string;
  conditions?: { type: string; status: string; reason: string; message: string }[];
}

test('a new namespace gets its ServiceAccount and the root CA', async () => {
  await using plane = await startControlPlane({ rootCa: 'PEM of the CA' });
  await plane.createNamespace('fresh');
  await plane.clock.settle();
  const account = { group: '', version: 'v1', plural: 'serviceaccounts', namespace: 'fresh', name: 'default' };
  expect(await plane.find(account)).toBeDefined();
  const rootCa = await plane.find({ ...configMaps, namespace: 'fresh', name: 'kube-root-ca.crt' });
  expect(rootCa?.['data']).toEqual({ 'ca.crt': 'PEM of the CA' });
  expect(rootCa?.metadata.annotations?.['kubernetes.io/description']).toMatch(/^Contains a CA bundle/);
});

test('furniture that somebody removes or bends is put back', async () => {
  await using plane = await startControlPlane({ rootCa: 'right' });
  await plane.createNamespace('fresh');
  await plane.clock.settle();
  const account = { group: '', version: 'v1', plural: 'serviceaccounts', namespace: 'fresh', name: 'default' };
  const rootCa = { ...configMaps, namespace: 'fresh', name: 'kube-root-ca.crt' };

  await plane.client.delete(account);
  await plane.client.patch(rootCa, 'merge', { data: { 'ca.crt': 'wrong', more: 'things' } });
  await plane.clock.settle();

  expect(await plane.find(account)).toBeDefined();
  expect((await plane.find(rootCa))?.['data']).toEqual({ 'ca.crt': 'right' });
});

test('a deleted namespace takes its content with it, at once and without a trace', async () => {
  await using plane = await startControlPlane();
  await plane.createNamespace('leaving');
  await plane.client.create({ ...configMaps, namespace: 'leaving' }, configMap('a', 'leaving'));
  await plane.clock.settle();

  const answer = await plane.client.delete({ ...namespaces, name: 'leaving' });
  expect((answer as { status?: NamespaceStatus }).status?.phase).toBe('Terminating');
  await plane.clock.settle();

  expect(await plane.find({ ...namespaces, name: 'leaving' })).toBeUndefined();
  expect(plane.cluster.server.store.list('configmaps', 'leaving')).toEqual([]);
  expect(plane.cluster.server.store.list('serviceaccounts', 'leaving')).toEqual([]);
  expect(plane.complaints).toEqual([]);
});

test('conditions say what holds a namespace back', async () => {
  await using plane = await startControlPlane();
  await plane.createNamespace('stuck');
  await plane.client.create(
    { ...configMaps, namespace: 'stuck' },
    configMap('holder', 'stuck', { finalizers: ['e.com/x'] }),
  );
  await plane.clock.settle();
  await plane.client.delete({ ...namespaces, name: 'stuck' });
  await plane.clock.settle();

  const held = await plane.find({ ...namespaces, name: 'stuck' });
  const { conditions } = held!['status'] as NamespaceStatus;
  expect(conditions!.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
    'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered',
    'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions',
    'NamespaceDeletionContentFailure False ContentDeleted',
    'NamespaceContentRemaining True SomeResourcesRemain',
    'NamespaceFinalizersRemaining True SomeFinalizersRemain',
  ]);
  expect(conditions![3]!.message).toBe('Some resources are remaining: configmaps. has 1 resource instances');
  expect(conditions![4]!.message).toBe(
    'Some content in the namespace has finalizers remaining: e.com/x in 1 resource instances',
  );

  await plane.client.patch({ ...configMaps, namespace: 'stuck', name: 'holder' }, 'merge', {
    metadata: { finalizers: null },
  });
  await plane.clock.settle();
  expect(await plane.find({ ...namespaces, name: 'stuck' })).toBeUndefined();
});

test('the last words of a namespace are five good conditions', async () => {
  await using plane = await startControlPlane();
  const states: NamespaceStatus[] = [];
  plane.cluster.observe(({ storageId, object }) => {
    if (storageId === 'namespaces' && object.metadata.name === 'short') {
      states.push(object['status'] as NamespaceStatus);
    }
  });
  await plane.createNamespace('short');
  await plane.clock.settle();
  await plane.client.delete({ ...namespaces, name: 'short' });
  await plane.clock.settle();
  expect(states.at(-1)!.conditions!.map(({ status }) => status)).toEqual(Array(5).fill('False'));
  expect(states.at(-1)!.conditions!.at(-1)!.message).toBe('All content-preserving finalizers finished');
});

test('with the delay of the real controller the content stays for five seconds', async () => {
  await using plane = await startControlPlane({ namespaceDeletionDelayMs: 5_000 });
  await plane.createNamespace('slow');
  await plane.client.create({ ...configMaps, namespace: 'slow' }, configMap('a', 'slow'));
  await plane.clock.settle();
  await plane.client.delete({ ...namespaces, name: 'slow' });
  await plane.clock.advance(4_000);
  expect(await plane.find({ ...configMaps, namespace: 'slow', name: 'a' })).toBeDefined();
  await plane.clock.advance(2_000);
  expect(await plane.find({ ...namespaces, name: 'slow' })).toBeUndefined();
});

test('claims and volumes go when nobody uses them', async () => {
  await using plane = await startControlPlane();
  const claims = { group: '', version: 'v1', plural: 'persistentvolumeclaims', namespace: 'default' };
  await plane.client.create(claims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default', finalizers: ['kubernetes.io/pvc-protection'] },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const pods = { group: '', version: 'v1', plural: 'pods', namespace: 'default' };
  await plane.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'user', namespace: 'default' },
    spec: {
      containers: [{ name: 'c', image: 'nginx:1' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  await plane.client.delete({ ...claims, name: 'data' });
  await plane.clock.settle();
  expect((await plane.find({ ...claims, name: 'data' }))?.metadata.deletionTimestamp).toBeDefined();

  await plane.client.delete({ ...pods, name: 'user' }, { gracePeriodSeconds: 0 });
  await plane.clock.settle();
  expect(await plane.find({ ...claims, name: 'data' })).toBeUndefined();
});

test('an attributes class goes when no claim names it any more', async () => {
  await using plane = await startControlPlane();
  const classes = { group: 'storage.k8s.io', version: 'v1', plural: 'volumeattributesclasses' };
  const claims = { group: '', version: 'v1', plural: 'persistentvolumeclaims', namespace: 'default' };
  await plane.client.create(classes, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    metadata: { name: 'fast', finalizers: ['kubernetes.io/vac-protection'] },
    driverName: 'example.com',
    parameters: { speed: 'high' },
  });
  await plane.client.create(claims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      volumeAttributesClassName: 'fast',
    },
  });
  await plane.client.delete({ ...classes, name: 'fast' });
  await plane.clock.settle();
  expect((await plane.find({ ...classes, name: 'fast' }))?.metadata.deletionTimestamp).toBeDefined();

  await plane.client.delete({ ...claims, name: 'data' });
  await plane.clock.settle();
  expect(await plane.find({ ...classes, name: 'fast' })).toBeUndefined();
});

const widgets = { group: 'example.com', version: 'v1', plural: 'widgets' };
const crds = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const widgetCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

test('a deleted CRD takes its objects with it, after their finalizers', async () => {
  await using plane = await startControlPlane();
  await plane.client.create(crds, widgetCrd);
  await plane.clock.settle();
  const create = (name: string, finalizers: string[]) =>
    plane.client.create(
      { ...widgets, namespace: 'default' },
      { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, namespace: 'default', finalizers } },
    );
  await create('light', []);
  await create('heavy', ['e.com/x']);
  await plane.client.delete({ ...crds, name: 'widgets.example.com' });
  await plane.clock.settle();

  const crd = await plane.find({ ...crds, name: 'widgets.example.com' });
  const { conditions } = crd!['status'] as { conditions: { type: string; status: string; reason: string }[] };
  expect(conditions.find(({ type }) => type === 'Terminating')).toMatchObject({
    status: 'True',
    reason: 'InstanceDeletionInProgress',
  });
  expect(await plane.find({ ...widgets, namespace: 'default', name: 'light' })).toBeUndefined();

  await plane.client.patch({ ...widgets, namespace: 'default', name: 'heavy' }, 'merge', {
    metadata: { finalizers: null },
  });
  await plane.clock.advance(1_000);
  expect(await plane.find({ ...crds, name: 'widgets.example.com' })).toBeUndefined();
  await expect(plane.client.list(widgets)).rejects.toBeInstanceOf(ApiError);
});

test('custom resources of CRDs created later are collected, too', async () => {
  await using plane = await startControlPlane();
  await plane.client.create(crds, widgetCrd);
  await plane.clock.settle();
  const owner = await plane.client.create(
    { ...widgets, namespace: 'default' },
    { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'owner', namespace: 'default' } },
  );
  const reference = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'owner', uid: owner.metadata.uid! };
  await plane.client.create(
    { ...configMaps, namespace: 'default' },
    configMap('child', 'default', { ownerReferences: [reference] }),
  );
  await plane.clock.settle();
  expect(await plane.find({ ...configMaps, namespace: 'default', name: 'child' })).toBeDefined();
  await plane.client.delete({ ...widgets, namespace: 'default', name: 'owner' });
  await plane.clock.settle();
  expect(await plane.find({ ...configMaps, namespace: 'default', name: 'child' })).toBeUndefined();
});
