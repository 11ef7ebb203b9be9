import {
  ApiException,
  AppsV1Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  V1MicroTime,
  makeInformer,
  type V1ConfigMap,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../../src/index.ts';

let cluster: Cluster;
let config: KubeConfig;
beforeAll(async () => {
  cluster = await startCluster({ port: 0, tls: true, authorization: 'RBAC', controllers: 'none' });
  config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig);
});
afterAll(() => cluster.stop());

const namespace = 'default';

it('the official client reads, writes and is refused', async () => {
  const core = config.makeApiClient(CoreV1Api);
  const created = await core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name: 'a', labels: { app: 'x' } }, data: { k: 'v' } },
  });
  expect(created.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
  const list = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=x' });
  expect(list.items.map((item) => item.metadata?.name)).toEqual(['a']);
  const patched = await core.patchNamespacedConfigMap({
    namespace,
    name: 'a',
    body: [{ op: 'replace', path: '/data/k', value: '2' }],
  });
  expect(patched.data).toEqual({ k: '2' });
  const codeOf = async (call: Promise<unknown>) => {
    try {
      await call;
      return undefined;
    } catch (error) {
      return error instanceof ApiException ? error.code : error;
    }
  };
  expect(await codeOf(core.readNamespacedConfigMap({ namespace, name: 'nope' }))).toBe(404);
  const stale = { metadata: { name: 'a', resourceVersion: '1' } };
  expect(await codeOf(core.replaceNamespacedConfigMap({ namespace, name: 'a', body: stale }))).toBe(409);
  await core.deleteNamespacedConfigMap({ namespace, name: 'a', propagationPolicy: 'Background' });
  expect(await codeOf(core.readNamespacedConfigMap({ namespace, name: 'a' }))).toBe(404);
});

it('its typed APIs understand Deployments and Leases', async () => {
  const deployment = await config.makeApiClient(AppsV1Api).createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
      },
    },
  });
  expect(deployment.spec?.replicas).toBe(1);
  expect(deployment.metadata?.creationTimestamp).toBeInstanceOf(Date);
  const lease = await config.makeApiClient(CoordinationV1Api).createNamespacedLease({
    namespace,
    body: { metadata: { name: 'l' }, spec: { holderIdentity: 'me', renewTime: new V1MicroTime() } },
  });
  expect(lease.spec?.holderIdentity).toBe('me');
});

it('KubernetesObjectApi creates, applies, patches and deletes by kind', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const spec = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'o', namespace }, data: { k: '1' } };
  await objects.create<V1ConfigMap>(spec);
  const applied = await objects.patch<V1ConfigMap>(
    { ...spec, data: { k: '2' } },
    undefined,
    undefined,
    'manager',
    true,
    PatchStrategy.ServerSideApply,
  );
  expect(applied.data).toEqual({ k: '2' });
  const read = await objects.read<V1ConfigMap>({ ...spec, metadata: { name: 'o', namespace } });
  expect(read.data).toEqual({ k: '2' });
  await objects.delete(spec);
  const { items } = await objects.list('v1', 'ConfigMap', namespace);
  expect(items.map((item) => item.metadata?.name)).not.toContain('o');
});

it('CustomObjectsApi works on a CRD made a moment before', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  await objects.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boats.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'boats', kind: 'Boat' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { length: { type: 'integer' } } } },
        },
      ],
    },
  } as never);
  const at = { group: 'example.com', version: 'v1', namespace, plural: 'boats' };
  const custom = config.makeApiClient(CustomObjectsApi);
  await custom.createNamespacedCustomObject({
    ...at,
    body: { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'one' }, length: 3 },
  });
  const list = (await custom.listNamespacedCustomObject(at)) as { items: { length: number }[] };
  expect(list.items.map((boat) => boat.length)).toEqual([3]);
});

/** An informer of the ConfigMaps with a label, and what it saw. */
function follow(label: string) {
  const core = config.makeApiClient(CoreV1Api);
  const labelSelector = `informed=${label}`;
  const informer = makeInformer<V1ConfigMap>(
    config,
    `/api/v1/namespaces/${namespace}/configmaps`,
    () => core.listNamespacedConfigMap({ namespace, labelSelector }),
    labelSelector,
  );
  const seen: string[] = [];
  let wake: () => void = () => undefined;
  for (const event of ['add', 'update', 'delete'] as const) {
    informer.on(event, (object) => {
      seen.push(`${event} ${object.metadata?.name}`);
      wake();
    });
  }
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      wake = () => {
        if (seen.length >= count) resolve();
      };
      wake();
    });
  const body = (name: string) => ({ metadata: { name, labels: { informed: label } } });
  return { core, informer, seen, until, body };
}

it('its informer sees what comes, changes and goes', async () => {
  const { core, informer, seen, until, body } = follow('yes');
  await core.createNamespacedConfigMap({ namespace, body: body('before') });
  await informer.start();
  await until(1);
  await core.createNamespacedConfigMap({ namespace, body: body('i') });
  await until(2);
  await core.replaceNamespacedConfigMap({ namespace, name: 'i', body: { ...body('i'), data: { x: '1' } } });
  await until(3);
  await core.deleteNamespacedConfigMap({ namespace, name: 'i' });
  await until(4);
  await informer.stop();
  expect(seen).toEqual(['add before', 'add i', 'update i', 'delete i']);
});

it('its informer goes on where it was when its watch ends, as it does every 30 seconds', async () => {
  const { core, informer, seen, until, body } = follow('again');
  const ends = cluster.faults.add({
    match: { verb: 'watch', resource: 'configmaps', times: 3 },
    action: { type: 'killWatch', afterEvents: 1, clean: true },
  });
  await informer.start();
  for (const [index, name] of ['r1', 'r2', 'r3', 'r4', 'r5'].entries()) {
    await core.createNamespacedConfigMap({ namespace, body: body(name) });
    await until(index + 1);
  }
  await informer.stop();
  expect(seen).toEqual(['add r1', 'add r2', 'add r3', 'add r4', 'add r5']);
  expect(ends.hits).toBe(3);
});
