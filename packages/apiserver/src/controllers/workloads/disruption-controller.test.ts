import { expect, test } from 'vitest';
import { ApiError } from '../../api-error.ts';
import { deployment, deployments, pods, podsOf, startWorkloads } from './workloads.fixture.ts';

const budgets = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespace: 'default' };

test('a budget lets as many pods be evicted as it can spare', async () => {
  await using plane = await startWorkloads({ podStage: { terminationDelayMs: 1_000 } });
  await plane.client.create(deployments, deployment('web', { replicas: 3 }));
  await plane.client.create(budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
  });
  await plane.clock.settle();
  const status = async () => (await plane.find({ ...budgets, name: 'web' }))!['status'];
  expect(await status()).toMatchObject({
    disruptionsAllowed: 1,
    currentHealthy: 3,
    desiredHealthy: 2,
    expectedPods: 3,
    observedGeneration: 1,
    conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
  });
  plane.controllers.simulation.when({}, { outcome: 'never-ready' });
  await plane.clock.settle();
  expect(await status()).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 0 });
  const [victim] = await podsOf(plane, 'web');
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: victim!.metadata.name!, namespace: 'default' },
  };
  const evict = plane.client.create({ ...pods, name: victim!.metadata.name!, subresource: 'eviction' }, eviction);
  await expect(evict).rejects.toMatchObject({ status: { code: 429 } });
  await expect(evict).rejects.toBeInstanceOf(ApiError);
});
