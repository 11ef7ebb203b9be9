import { ConfigMap } from '@slipway/kube';
import { expect, test } from 'vitest';

import { application, configMap, syncWorld } from './sync-kit.ts';

const shop = (name: string) => ({ namespace: 'shop', name });

test('an automated Application brings the files of its folder, and says so as Argo CD would', async () => {
  await using world = await syncWorld();
  const { cluster, repository } = world;
  await cluster.run([world.controller()]);
  const commit = await repository.push({ 'app/a.yaml': configMap('a', '1'), 'app/deep/b.yaml': configMap('b', '1') });
  await cluster.client.create(application());

  const status = await world.settled(commit);
  expect((await cluster.client.get(ConfigMap, shop('a')))?.data).toEqual({ value: '1' });
  expect(await cluster.client.get(ConfigMap, shop('b'))).toBeUndefined();
  expect(status).toMatchObject({
    sourceType: 'Directory',
    sync: { status: 'Synced', revision: commit },
    health: { status: 'Healthy' },
    resources: [{ version: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a', status: 'Synced' }],
    operationState: {
      phase: 'Succeeded',
      message: 'successfully synced (all tasks run)',
      operation: { initiatedBy: { automated: true }, sync: { revision: commit, prune: true } },
      syncResult: {
        revision: commit,
        resources: [{ kind: 'ConfigMap', name: 'a', status: 'Synced', message: 'created', syncPhase: 'Sync' }],
      },
    },
    history: [{ id: 0, revision: commit }],
    conditions: [],
  });
});
