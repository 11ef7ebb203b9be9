import { expect, test } from 'vitest';
import type { ApiObject } from '../../object.ts';
import type { Condition, Node, Pod } from './kinds.ts';
import { deployment, deployments, eventTexts, nodes, pods, podsOf, startWorkloads } from './workloads.fixture.ts';

function pod(name: string, spec: object = {}, annotations: Record<string, string> = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', annotations },
    spec: { containers: [{ name: 'c', image: 'nginx:1' }], ...spec },
  };
}

async function read(plane: Awaited<ReturnType<typeof startWorkloads>>, name: string): Promise<Pod> {
  return (await plane.find({ ...pods, name })) as Pod;
}

function truth(subject: Pod, type: string): string | undefined {
  return subject.status?.conditions?.find((condition: Condition) => condition.type === type)?.status;
}

test('nodes are Ready and free of the taint of new nodes', async () => {
  await using plane = await startWorkloads({ nodes: 2 });
  const items = (await plane.client.list(nodes)).items as Node[];
  expect(items.map((node) => node.metadata.name)).toEqual(['sim-node-0', 'sim-node-1']);
  for (const node of items) {
    expect(node.spec.taints ?? []).toEqual([]);
    expect(node.status!.conditions!.find(({ type }) => type === 'Ready')!.status).toBe('True');
  }
});

test('a pod is bound, runs and is ready, with the conditions and addresses of a real one', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(pods, pod('plain'));
  await plane.clock.settle();
  const live = await read(plane, 'plain');
  expect(live.spec.nodeName).toBe('sim-node-0');
  expect(live.status?.phase).toBe('Running');
  expect(live.status!.conditions!.map(({ type, status }) => `${type}=${status}`)).toEqual([
    'Initialized=True',
    'Ready=True',
    'ContainersReady=True',
    'PodScheduled=True',
  ]);
  expect(live.status!.podIP).toMatch(/^10\.1\.\d+\.\d+$/);
  expect(live.status!.containerStatuses).toMatchObject([
    { name: 'c', ready: true, restartCount: 0, image: 'nginx:1', started: true },
  ]);
  expect(live.status!['qosClass']).toBe('BestEffort');
});

test('pods spread over nodes', async () => {
  await using plane = await startWorkloads({ nodes: 2 });
  await plane.client.create(deployments, deployment('web', { replicas: 4 }));
  await plane.clock.settle();
  const places = (await podsOf(plane, 'web')).map((each) => each.spec.nodeName);
  expect(places.filter((name) => name === 'sim-node-0')).toHaveLength(2);
});

test('annotations delay the start and the readiness', async () => {
  await using plane = await startWorkloads();
  const annotations = { 'sim.slipway.dev/start-delay': '5s', 'sim.slipway.dev/ready-delay': '10s' };
  await plane.client.create(pods, pod('late', {}, annotations));
  await plane.clock.advance(4_900);
  expect((await read(plane, 'late')).status?.phase).toBe('Pending');
  await plane.clock.advance(200);
  expect((await read(plane, 'late')).status?.phase).toBe('Running');
  expect(truth(await read(plane, 'late'), 'Ready')).toBe('False');
  await plane.clock.advance(10_000);
  expect(truth(await read(plane, 'late'), 'Ready')).toBe('True');
});

test('a crash loop restarts with growing pauses and ends when the rule goes', async () => {
  await using plane = await startWorkloads();
  const rule = plane.controllers.simulation.when({ name: 'unlucky' }, { outcome: 'crash-loop', exitCode: 137 });
  await plane.client.create(pods, pod('unlucky'));
  await plane.clock.settle();
  const [container] = (await read(plane, 'unlucky')).status!.containerStatuses!;
  expect(container).toMatchObject({
    restartCount: 0,
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 137, reason: 'Error' } },
  });
  await plane.clock.advance(31_000);
  expect((await read(plane, 'unlucky')).status!.containerStatuses![0]!.restartCount).toBe(2);
  rule.remove();
  await plane.clock.settle();
  const cured = await read(plane, 'unlucky');
  expect(truth(cured, 'Ready')).toBe('True');
  expect(cured.status!.containerStatuses![0]!.restartCount).toBe(3);
});

test('outcomes: hang, image-pull-error, never-ready, fail', async () => {
  await using plane = await startWorkloads();
  const outcome = (value: string) => ({ 'sim.slipway.dev/outcome': value });
  await plane.client.create(pods, pod('hang', {}, outcome('hang')));
  await plane.client.create(pods, pod('pull', {}, outcome('image-pull-error')));
  await plane.client.create(pods, pod('unready', {}, outcome('never-ready')));
  await plane.client.create(pods, pod('fail', { restartPolicy: 'Never' }, outcome('fail')));
  await plane.clock.advance(600_000);
  const waiting = (subject: Pod) => subject.status!.containerStatuses![0]!.state?.['waiting']?.['reason'];
  expect(waiting(await read(plane, 'hang'))).toBe('ContainerCreating');
  expect(waiting(await read(plane, 'pull'))).toBe('ImagePullBackOff');
  expect((await read(plane, 'unready')).status?.phase).toBe('Running');
  expect(truth(await read(plane, 'unready'), 'Ready')).toBe('False');
  expect((await read(plane, 'fail')).status).toMatchObject({
    phase: 'Failed',
    containerStatuses: [{ state: { terminated: { exitCode: 1, reason: 'Error' } } }],
  });
});

test('a pod no node takes says why, and is bound when one does', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(pods, pod('picky', { nodeSelector: { disk: 'ssd' } }));
  await plane.clock.settle();
  const waiting = await read(plane, 'picky');
  expect(waiting.spec.nodeName).toBeUndefined();
  expect(waiting.status!.conditions!.find(({ type }) => type === 'PodScheduled')).toMatchObject({
    status: 'False',
    reason: 'Unschedulable',
    message: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  });
  expect(await eventTexts(plane, 'Pod')).toEqual([
    "FailedScheduling: 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  ]);
  await plane.client.patch({ ...nodes, name: 'sim-node-0' }, 'merge', { metadata: { labels: { disk: 'ssd' } } });
  await plane.clock.settle();
  expect((await read(plane, 'picky')).status?.phase).toBe('Running');
});

test('a deleted pod goes after its time, at the latest after its grace', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(pods, pod('slow', {}, { 'sim.slipway.dev/termination-delay': '1h' }));
  await plane.client.create(pods, pod('quick'));
  await plane.clock.settle();
  await plane.client.delete({ ...pods, name: 'slow' });
  await plane.client.delete({ ...pods, name: 'quick' });
  await plane.clock.advance(29_000);
  expect(await plane.find({ ...pods, name: 'quick' })).toBeUndefined();
  expect(await plane.find({ ...pods, name: 'slow' })).toBeDefined();
  await plane.clock.advance(2_000);
  expect(await plane.find({ ...pods, name: 'slow' })).toBeUndefined();
});

test('readiness gates hold a pod back until somebody opens them', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(pods, pod('gated', { readinessGates: [{ conditionType: 'e.com/gate' }] }));
  await plane.clock.settle();
  const waiting = await read(plane, 'gated');
  expect(truth(waiting, 'ContainersReady')).toBe('True');
  expect(truth(waiting, 'Ready')).toBe('False');
  const opened = [...waiting.status!.conditions!, { type: 'e.com/gate', status: 'True' }];
  await plane.client.update(
    { ...pods, name: 'gated', subresource: 'status' },
    { ...waiting, status: { ...waiting.status, conditions: opened } },
  );
  await plane.clock.settle();
  expect(truth(await read(plane, 'gated'), 'Ready')).toBe('True');
});

test('a rule for some pods leaves the others alone, and may hold for a number of pods', async () => {
  await using plane = await startWorkloads();
  plane.controllers.simulation.when({ labels: { app: 'web' } }, { outcome: 'never-ready' }, { times: 1 });
  await plane.client.create(deployments, deployment('web', { replicas: 3 }));
  await plane.client.create(deployments, deployment('other', { replicas: 1 }));
  await plane.clock.settle();
  const ready = (list: Pod[]) => list.filter((each) => truth(each, 'Ready') === 'True').length;
  expect(ready(await podsOf(plane, 'web'))).toBe(2);
  expect(ready(await podsOf(plane, 'other'))).toBe(1);
});
