import { expect, test } from 'vitest';
import type { ApiObject } from '../../object.ts';
import type { DaemonSet, Pod, StatefulSet } from './kinds.ts';
import {
  claims,
  daemonSets,
  deployment,
  deployments,
  nodes,
  pods,
  podsOf,
  services,
  startWorkloads,
  statefulSets,
  template,
} from './workloads.fixture.ts';

function statefulSet(name: string, spec: Partial<StatefulSet['spec']> = {}): ApiObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 3,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: template(name),
      ...spec,
    },
  };
}

function names(list: readonly ApiObject[]): (string | undefined)[] {
  return list.map(({ metadata }) => metadata.name);
}

test('a StatefulSet starts its pods in order, each with its claim', async () => {
  await using plane = await startWorkloads({ podStage: { startDelayMs: 1_000 } });
  const volumeClaimTemplates = [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ];
  await plane.client.create(statefulSets, statefulSet('db', { volumeClaimTemplates }));
  await plane.clock.settle();
  expect(names(await podsOf(plane, 'db'))).toEqual(['db-0']);
  await plane.clock.advance(1_000);
  expect(names(await podsOf(plane, 'db'))).toEqual(['db-0', 'db-1']);
  await plane.clock.advance(5_000);
  expect(names(await podsOf(plane, 'db'))).toEqual(['db-0', 'db-1', 'db-2']);
  const bound = (await plane.client.list(claims)).items;
  expect(names(bound)).toEqual(['data-db-0', 'data-db-1', 'data-db-2']);
  expect(bound.map((claim) => (claim['status'] as { phase: string }).phase)).toEqual(['Bound', 'Bound', 'Bound']);
  const live = (await plane.find({ ...statefulSets, name: 'db' })) as StatefulSet;
  expect(live.status).toMatchObject({
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    observedGeneration: 1,
  });
  expect(live.status!.currentRevision).toBe(live.status!['updateRevision']);
  const [first] = await podsOf(plane, 'db');
  expect(first!.metadata.labels).toMatchObject({
    'statefulset.kubernetes.io/pod-name': 'db-0',
    'apps.kubernetes.io/pod-index': '0',
  });
  expect(first!.spec.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } });
  expect(plane.complaints).toEqual([]);
});

test('a StatefulSet updates from the last pod to the first, one at a time', async () => {
  await using plane = await startWorkloads({ podStage: { startDelayMs: 1_000 } });
  await plane.client.create(statefulSets, statefulSet('db'));
  await plane.clock.advance(10_000);
  const gone: string[] = [];
  plane.cluster.observe(({ type, storageId, object }) => {
    if (type === 'DELETED' && storageId === 'pods') {
      gone.push(object.metadata.name!);
    }
  });
  const changed = template('db');
  changed.spec.containers[0]!.image = 'nginx:2';
  await plane.client.patch({ ...statefulSets, name: 'db' }, 'merge', { spec: { template: changed as never } });
  await plane.clock.advance(500);
  expect(gone).toEqual(['db-2']);
  await plane.clock.advance(20_000);
  expect(gone).toEqual(['db-2', 'db-1', 'db-0']);
  const live = (await plane.find({ ...statefulSets, name: 'db' })) as StatefulSet;
  expect(live.status!.currentRevision).toBe(live.status!['updateRevision']);
});

test('a StatefulSet scales down from the end', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(statefulSets, statefulSet('db'));
  await plane.clock.settle();
  await plane.client.patch({ ...statefulSets, name: 'db' }, 'merge', { spec: { replicas: 1 } });
  await plane.clock.settle();
  expect(names(await podsOf(plane, 'db'))).toEqual(['db-0']);
});

test('a partition holds back the pods below it', async () => {
  await using plane = await startWorkloads();
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
  await plane.client.create(statefulSets, statefulSet('db', { updateStrategy }));
  await plane.clock.settle();
  const changed = template('db');
  changed.spec.containers[0]!.image = 'nginx:2';
  await plane.client.patch({ ...statefulSets, name: 'db' }, 'merge', { spec: { template: changed as never } });
  await plane.clock.settle();
  await plane.client.delete({ ...pods, name: 'db-0' });
  await plane.clock.settle();
  expect((await podsOf(plane, 'db')).map((pod) => pod.spec.containers[0]!.image)).toEqual([
    'nginx:1',
    'nginx:1',
    'nginx:2',
  ]);
});

test('a DaemonSet runs on every node that wants it and follows new nodes', async () => {
  await using plane = await startWorkloads({ nodes: 2 });
  await plane.client.create(daemonSets, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
  });
  await plane.clock.settle();
  const places = (list: Pod[]) => list.map((pod) => pod.spec.nodeName!).sort((a, b) => a.localeCompare(b));
  expect(places(await podsOf(plane, 'agent'))).toEqual(['sim-node-0', 'sim-node-1']);
  const live = (await plane.find({ ...daemonSets, name: 'agent' })) as DaemonSet;
  expect(live.status).toMatchObject({
    desiredNumberScheduled: 2,
    currentNumberScheduled: 2,
    numberReady: 2,
    numberAvailable: 2,
    updatedNumberScheduled: 2,
    numberMisscheduled: 0,
  });
  await plane.client.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'extra', annotations: { 'sim.slipway.dev/node': 'true' } },
  });
  await plane.clock.settle();
  expect(places(await podsOf(plane, 'agent'))).toEqual(['extra', 'sim-node-0', 'sim-node-1']);

  const changed = template('agent');
  changed.spec.containers[0]!.image = 'nginx:2';
  await plane.client.patch({ ...daemonSets, name: 'agent' }, 'merge', { spec: { template: changed as never } });
  await plane.clock.settle();
  expect((await podsOf(plane, 'agent')).map((pod) => pod.spec.containers[0]!.image)).toEqual(Array(3).fill('nginx:2'));

  await plane.client.patch({ ...nodes, name: 'extra' }, 'merge', {
    spec: { taints: [{ key: 'e.com/keep-out', effect: 'NoSchedule' }] },
  });
  await plane.clock.settle();
  expect(places(await podsOf(plane, 'agent'))).toEqual(['sim-node-0', 'sim-node-1']);
  expect(plane.complaints).toEqual([]);
});

test('the slices of a Service follow the readiness of its pods', async () => {
  await using plane = await startWorkloads({ podStage: { terminationDelayMs: 1_000 } });
  await plane.client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'svc', namespace: 'default' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080, name: 'http' }] },
  });
  await plane.clock.settle();
  const slices = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespace: 'default' };
  const own = async () =>
    (await plane.client.list(slices, { labelSelector: 'kubernetes.io/service-name=svc' })).items[0]!;
  expect((await own())['endpoints'] ?? []).toEqual([]);
  expect((await own()).metadata.name).toMatch(/^svc-\w{5}$/);

  const rule = plane.controllers.simulation.when({ labels: { app: 'web' } }, { readyDelayMs: 5_000 });
  await plane.client.create(deployments, deployment('web'));
  await plane.clock.settle();
  type Endpoint = { conditions: Record<string, boolean>; targetRef: { name: string } };
  const conditions = async () => ((await own())['endpoints'] as Endpoint[]).map((each) => each.conditions);
  expect(await conditions()).toEqual(Array(2).fill({ ready: false, serving: false, terminating: false }));
  await plane.clock.advance(5_000);
  rule.remove();
  expect(await conditions()).toEqual(Array(2).fill({ ready: true, serving: true, terminating: false }));
  expect((await own())['ports']).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
  const endpoints = { group: '', version: 'v1', plural: 'endpoints', namespace: 'default', name: 'svc' };
  type Subset = { addresses?: { ip: string }[]; ports: object[] };
  const [subset] = (await plane.find(endpoints))!['subsets'] as Subset[];
  expect(subset!.addresses).toHaveLength(2);

  await plane.client.patch({ ...deployments, name: 'web' }, 'merge', { spec: { replicas: 1 } });
  await plane.clock.settle();
  const going = ((await own())['endpoints'] as Endpoint[]).find((each) => each.conditions['terminating']);
  expect(going!.conditions).toEqual({ ready: false, serving: true, terminating: true });
  expect((await own()).metadata.annotations).toBeUndefined();
  await plane.clock.advance(1_000);
  expect(await conditions()).toHaveLength(1);

  await plane.client.delete({ ...services, name: 'svc' });
  await plane.clock.settle();
  expect((await plane.client.list(slices, { labelSelector: 'kubernetes.io/service-name=svc' })).items).toEqual([]);
  expect(await plane.find(endpoints)).toBeUndefined();
  expect(plane.complaints).toEqual([]);
});

test('a claim is bound at once and its volume goes with it', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(claims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } },
  });
  await plane.clock.settle();
  const claim = (await plane.find({ ...claims, name: 'data' }))!;
  expect(claim['status']).toMatchObject({
    phase: 'Bound',
    capacity: { storage: '5Gi' },
    accessModes: ['ReadWriteOnce'],
  });
  const volume = { group: '', version: 'v1', plural: 'persistentvolumes', name: `pvc-${claim.metadata.uid}` };
  expect((await plane.find(volume))!['status']).toMatchObject({ phase: 'Bound' });
  await plane.client.delete({ ...claims, name: 'data' });
  await plane.clock.settle();
  expect(await plane.find({ ...claims, name: 'data' })).toBeUndefined();
  expect(await plane.find(volume)).toBeUndefined();
  expect(plane.complaints).toEqual([]);
});
