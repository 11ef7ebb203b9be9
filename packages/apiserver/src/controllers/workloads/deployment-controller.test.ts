import { expect, test } from 'vitest';
import type { Deployment, DeploymentStatus, ReplicaSet } from './kinds.ts';
import {
  deployment,
  deployments,
  eventTexts,
  podsOf,
  replicaSets,
  startWorkloads,
  statusHistory,
  template,
} from './workloads.fixture.ts';

function reasons(status: DeploymentStatus | undefined): string[] {
  return (status?.conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);
}

/** Without neighbours that are equal. */
function distinct(texts: string[]): string[] {
  return texts.filter((text, index) => text !== texts[index - 1]);
}

test('a Deployment comes up through a ReplicaSet, and its status tells the steps', async () => {
  await using plane = await startWorkloads({ podStage: { startDelayMs: 1_000 } });
  const history = statusHistory<DeploymentStatus>(plane, 'deployments.apps', 'web');
  await plane.client.create(deployments, deployment('web'));
  await plane.clock.settle();

  const [replicaSet] = (await plane.client.list(replicaSets)).items as ReplicaSet[];
  const hash = replicaSet!.metadata.labels!['pod-template-hash']!;
  expect(replicaSet!.metadata.name).toBe(`web-${hash}`);
  expect(replicaSet!.metadata.annotations).toEqual({
    'deployment.kubernetes.io/desired-replicas': '2',
    'deployment.kubernetes.io/max-replicas': '3',
    'deployment.kubernetes.io/revision': '1',
  });
  expect(replicaSet!.metadata.ownerReferences).toMatchObject([
    { kind: 'Deployment', name: 'web', controller: true, blockOwnerDeletion: true },
  ]);
  expect(replicaSet!.spec.selector.matchLabels).toEqual({ app: 'web', 'pod-template-hash': hash });
  const live = (await plane.find({ ...deployments, name: 'web' })) as Deployment;
  expect(live.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
  expect(live.status).toMatchObject({
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    unavailableReplicas: 2,
    terminatingReplicas: 0,
  });
  expect(reasons(live.status)).toEqual([
    'Available=False MinimumReplicasUnavailable',
    'Progressing=True ReplicaSetUpdated',
  ]);

  await plane.clock.advance(1_000);

  const steps = distinct(history.map((status) => reasons(status).join(', ')));
  expect(steps).toEqual([
    '',
    'Progressing=True NewReplicaSetCreated',
    'Progressing=True NewReplicaSetCreated, Available=False MinimumReplicasUnavailable',
    'Available=False MinimumReplicasUnavailable, Progressing=True ReplicaSetUpdated',
    'Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable',
  ]);
  expect(history.at(-1)).toMatchObject({ replicas: 2, readyReplicas: 2, availableReplicas: 2 });
  expect(history.at(-1)).not.toHaveProperty('unavailableReplicas');
  expect(await eventTexts(plane, 'Deployment')).toEqual([
    `ScalingReplicaSet: Scaled up replica set web-${hash} from 0 to 2`,
  ]);
  expect((await eventTexts(plane, 'ReplicaSet')).map((text) => text.slice(0, 29))).toEqual([
    'SuccessfulCreate: Created pod',
    'SuccessfulCreate: Created pod',
  ]);
  expect(plane.complaints).toEqual([]);
});

test('a rolling update never has too many pods and never too few ready ones', async () => {
  await using plane = await startWorkloads({ podStage: { startDelayMs: 1_000, terminationDelayMs: 500 } });
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } };
  await plane.client.create(deployments, deployment('web', { replicas: 5, strategy }));
  await plane.clock.advance(2_000);
  const counts: { all: number; ready: number }[] = [];
  plane.cluster.observe((change) => {
    if (change.storageId === 'pods') {
      const active = plane.cluster.server.store
        .list('pods', 'default')
        .map(({ object }) => object)
        .filter((pod) => pod.metadata.deletionTimestamp === undefined);
      const ready = active.filter((pod) =>
        (pod['status'] as { conditions?: { type: string; status: string }[] }).conditions?.some(
          ({ type, status }) => type === 'Ready' && status === 'True',
        ),
      );
      counts.push({ all: active.length, ready: ready.length });
    }
  });
  const changed = template('web');
  changed.spec.containers[0]!.image = 'nginx:2';
  await plane.client.patch({ ...deployments, name: 'web' }, 'merge', { spec: { template: changed as never } });
  await plane.clock.advance(20_000);

  const finished = (await plane.find({ ...deployments, name: 'web' })) as Deployment;
  expect(finished.status).toMatchObject({ replicas: 5, updatedReplicas: 5, availableReplicas: 5 });
  expect(finished.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  expect((await podsOf(plane, 'web')).map((pod) => pod.spec.containers[0]!.image)).toEqual(Array(5).fill('nginx:2'));
  expect(Math.max(...counts.map(({ all }) => all))).toBeLessThanOrEqual(7);
  expect(Math.min(...counts.map(({ ready }) => ready))).toBeGreaterThanOrEqual(4);
  const sizes = ((await plane.client.list(replicaSets)).items as ReplicaSet[]).map((each) => [
    each.metadata.annotations!['deployment.kubernetes.io/revision'],
    each.spec.replicas,
  ]);
  expect(new Map(sizes as [string, number][])).toEqual(
    new Map([
      ['1', 0],
      ['2', 5],
    ]),
  );
});

test('rolling back gives the old ReplicaSet a new revision and remembers the old one', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(deployments, deployment('web'));
  await plane.clock.settle();
  const image = (name: string) => {
    const next = template('web');
    next.spec.containers[0]!.image = name;
    return { spec: { template: next as never } };
  };
  await plane.client.patch({ ...deployments, name: 'web' }, 'merge', image('nginx:2'));
  await plane.clock.settle();
  await plane.client.patch({ ...deployments, name: 'web' }, 'merge', image('nginx:1'));
  await plane.clock.settle();
  const sets = (await plane.client.list(replicaSets)).items as ReplicaSet[];
  expect(sets).toHaveLength(2);
  const current = sets.find((each) => each.spec.replicas === 2)!;
  expect(current.spec.template.spec.containers[0]!.image).toBe('nginx:1');
  expect(current.metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/revision': '3',
    'deployment.kubernetes.io/revision-history': '1',
  });
});

test('a roll-out that does not get ahead says so after its deadline', async () => {
  await using plane = await startWorkloads({ podStage: { outcome: 'never-ready' } });
  await plane.client.create(deployments, deployment('web', { progressDeadlineSeconds: 60 }));
  await plane.clock.advance(59_000);
  const waiting = (await plane.find({ ...deployments, name: 'web' })) as Deployment;
  expect(reasons(waiting.status)).toContain('Progressing=True ReplicaSetUpdated');
  await plane.clock.advance(3_000);
  const stuck = (await plane.find({ ...deployments, name: 'web' })) as Deployment;
  expect(reasons(stuck.status)).toContain('Progressing=False ProgressDeadlineExceeded');
  expect(stuck.status!.conditions!.at(-1)!.message).toMatch(/^ReplicaSet "web-\w+" has timed out progressing\.$/);
});

test('scaling keeps the template and reaches zero', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(deployments, deployment('web'));
  await plane.clock.settle();
  for (const replicas of [5, 1, 0]) {
    await plane.client.patch({ ...deployments, name: 'web' }, 'merge', { spec: { replicas } });
    await plane.clock.settle();
    expect(await podsOf(plane, 'web')).toHaveLength(replicas);
  }
  expect((await plane.client.list(replicaSets)).items).toHaveLength(1);
});

test('Recreate lets the last old pod go before the first new one comes', async () => {
  await using plane = await startWorkloads({ podStage: { terminationDelayMs: 5_000 } });
  await plane.client.create(deployments, deployment('web', { strategy: { type: 'Recreate' } }));
  await plane.clock.settle();
  const changed = template('web');
  changed.spec.containers[0]!.image = 'nginx:2';
  await plane.client.patch({ ...deployments, name: 'web' }, 'merge', { spec: { template: changed as never } });
  await plane.clock.advance(4_000);
  expect((await podsOf(plane, 'web')).every((pod) => pod.metadata.deletionTimestamp !== undefined)).toBe(true);
  await plane.clock.advance(2_000);
  const images = (await podsOf(plane, 'web')).map((pod) => pod.spec.containers[0]!.image);
  expect(images).toEqual(['nginx:2', 'nginx:2']);
});

test('a paused Deployment waits, a resumed one goes on', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(deployments, deployment('web'));
  await plane.clock.settle();
  const changed = template('web');
  changed.spec.containers[0]!.image = 'nginx:2';
  await plane.client.patch({ ...deployments, name: 'web' }, 'merge', {
    spec: { paused: true, template: changed as never },
  });
  await plane.clock.settle();
  expect((await podsOf(plane, 'web')).map((pod) => pod.spec.containers[0]!.image)).toEqual(['nginx:1', 'nginx:1']);
  const paused = (await plane.find({ ...deployments, name: 'web' })) as Deployment;
  expect(reasons(paused.status)).toContain('Progressing=Unknown DeploymentPaused');
  await plane.client.patch({ ...deployments, name: 'web' }, 'merge', { spec: { paused: false } });
  await plane.clock.settle();
  expect((await podsOf(plane, 'web')).map((pod) => pod.spec.containers[0]!.image)).toEqual(['nginx:2', 'nginx:2']);
});

test('old ReplicaSets beyond the history limit go', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(deployments, deployment('web', { revisionHistoryLimit: 1 }));
  await plane.clock.settle();
  for (const tag of [2, 3, 4]) {
    const changed = template('web');
    changed.spec.containers[0]!.image = `nginx:${tag}`;
    await plane.client.patch({ ...deployments, name: 'web' }, 'merge', { spec: { template: changed as never } });
    await plane.clock.settle();
  }
  const revisions = (await plane.client.list(replicaSets)).items.map(
    (each) => each.metadata.annotations!['deployment.kubernetes.io/revision'],
  );
  expect(new Set(revisions)).toEqual(new Set(['3', '4']));
});

test('foreground deletion removes pods, then ReplicaSets, then the Deployment', async () => {
  await using plane = await startWorkloads({ podStage: { terminationDelayMs: 1_000 } });
  await plane.client.create(deployments, deployment('web'));
  await plane.clock.settle();
  const gone: string[] = [];
  plane.cluster.observe(({ type, object }) => {
    if (type === 'DELETED') {
      gone.push(object.kind!);
    }
  });
  await plane.client.delete({ ...deployments, name: 'web' }, { propagationPolicy: 'Foreground' });
  await plane.clock.settle();
  expect(gone).toEqual([]);
  await plane.clock.advance(2_000);
  expect(gone.filter((kind) => ['Pod', 'ReplicaSet', 'Deployment'].includes(kind))).toEqual([
    'Pod',
    'Pod',
    'ReplicaSet',
    'Deployment',
  ]);
});

test('pods nobody controls are adopted when they match, and replaced when they are lost', async () => {
  await using plane = await startWorkloads();
  await plane.client.create(deployments, deployment('web'));
  await plane.clock.settle();
  const [victim] = await podsOf(plane, 'web');
  await plane.client.delete({ ...deployments, plural: 'pods', group: '', name: victim!.metadata.name! });
  await plane.clock.settle();
  expect(await podsOf(plane, 'web')).toHaveLength(2);
  const [released] = await podsOf(plane, 'web');
  await plane.client.patch({ ...deployments, plural: 'pods', group: '', name: released!.metadata.name! }, 'merge', {
    metadata: { labels: { app: 'quarantine' } },
  });
  await plane.clock.settle();
  expect(await podsOf(plane, 'web')).toHaveLength(2);
  const [alone] = await podsOf(plane, 'quarantine');
  expect(alone!.metadata.ownerReferences).toBeUndefined();
});
