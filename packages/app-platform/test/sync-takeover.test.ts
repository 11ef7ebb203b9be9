import { ConfigMap, Service } from '@slipway/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { argo } from '../src/argo/words.ts';
import { balancer, configMap, syncWorld, type SyncWorld } from './sync-kit.ts';

const limit = 120_000;
let world: SyncWorld;
beforeAll(async () => (world = await syncWorld({ controllers: 'workloads' })), limit);
afterAll(async () => await world[Symbol.asyncDispose]());
const it = (name: string, run: () => Promise<void>) => test(name, run, limit);

it('steps aside while Argo CD is installed, and takes over when it goes', async () => {
  const app = await world.app('aside');
  await app.push({ 'app/a.yaml': configMap('a', '1') });
  await app.create();
  await app.settled();
  const removeArgo = await world.installArgo();
  await app.push({ 'app/a.yaml': configMap('a', '2') });
  await world.cluster.client.delete(ConfigMap, { namespace: 'aside', name: 'a' });
  await world.cluster.advance(1000);
  expect(await app.value('a')).toBeUndefined();
  await removeArgo();
  await world.cluster.eventually('it takes over', async () => (await app.value('a')) === '2');
});

it('Argo CD is installed while a hook runs: the synchronization stays as it was, and when Argo CD goes it goes on with the same hook', async () => {
  const app = await world.app('interrupted');
  const { client } = world.cluster;
  const key = { namespace: 'interrupted', name: 'lb' };
  const commit = await app.push({
    'app/a.yaml': configMap('a', '1'),
    'app/hook.yaml': balancer({ [argo.hook]: 'PreSync' }),
  });
  await app.create();
  await app.until('the hook runs', ({ operationState }) => operationState?.message?.includes('Service interrupted/lb'));
  const hook = (await client.get(Service, key))!;
  const removeArgo = await world.installArgo();
  const before = (await app.get())?.metadata.resourceVersion;
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
  await client.update({ ...(await client.get(Service, key))!, status }, { subresource: 'status' });
  await world.cluster.advance(5000);
  expect((await app.get())?.metadata.resourceVersion).toBe(before);
  expect(await app.value('a')).toBeUndefined();
  await removeArgo();
  expect((await app.settled(commit)).operationState?.phase).toBe('Succeeded');
  expect(await app.value('a')).toBe('1');
  expect((await client.get(Service, key))?.metadata.uid).toBe(hook.metadata.uid);
});

const startedAt = '2026-01-01T00:00:00Z';

/** What Argo CD had written down when it was removed, and how that ends where nothing begins by itself. */
const unfinished: Record<string, [phase: string, state: Record<string, unknown>]> = {
  'an operation that had only begun': ['Succeeded', { phase: 'Running', operation: { sync: {} } }],
  'an operation with retries': [
    'Succeeded',
    {
      phase: 'Running',
      finishedAt: startedAt,
      retryCount: 3,
      operation: { initiatedBy: { automated: true }, sync: { revision: 'gone' }, retry: { limit: 5 } },
      syncResult: { revision: 'gone', source: { repoURL: 'https://git.example.com/other.git' } },
    },
  ],
  'an operation that was to end': ['Failed', { phase: 'Terminating', operation: { sync: {} } }],
  'a part of a synchronization': [
    'Error',
    { phase: 'Running', operation: { sync: { resources: [{ kind: 'ConfigMap', name: 'b' }] } } },
  ],
  'an operation with an option that is not known': [
    'Error',
    { phase: 'Running', operation: { sync: { syncOptions: ['Validate=false'] } } },
  ],
  'an operation of another kind': ['Error', { phase: 'Running', operation: {} }],
};

test.each(Object.entries(unfinished))(
  'Argo CD was removed in the middle of %s: it comes to an end here',
  { timeout: limit },
  async (what, [phase, state]) => {
    const names = [`${what.replaceAll(' ', '-')}-1`, `${what.replaceAll(' ', '-')}-2`] as const;
    const [asked, automated] = [await world.app(names[0]), await world.app(names[1])];
    const removeArgo = await world.installArgo();
    for (const app of [asked, automated]) {
      await app.push({ 'app/a.yaml': configMap('a', '1') });
      await app.create({ syncPolicy: app === automated ? { automated: {} } : {} });
      await app.patch({ status: { operationState: { startedAt, ...state } } });
    }
    await removeArgo();
    const { operationState } = await asked.until('the operation is over', ({ operationState: now }) =>
      ['Succeeded', 'Failed', 'Error'].includes(now?.phase ?? ''),
    );
    expect(operationState?.phase).toBe(phase);
    expect(await asked.value('a')).toBe(phase === 'Succeeded' ? '1' : undefined);
    // Where it may begin by itself, it does.
    await automated.until(
      'it is in sync',
      ({ sync, operationState: now }) => sync?.status === 'Synced' && now?.phase === 'Succeeded',
    );
    expect(await automated.value('a')).toBe('1');
  },
);
