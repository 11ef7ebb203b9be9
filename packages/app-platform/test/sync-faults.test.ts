import { ConfigMap, CustomResourceDefinition, Service } from '@slipway/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { argo } from '../src/argo/words.ts';
import { balancer, configMap, syncWorld, type SyncWorld } from './sync-kit.ts';

const limit = 120_000;
let world: SyncWorld;
beforeAll(async () => (world = await syncWorld({ controllers: 'workloads' })), limit);
afterAll(async () => await world[Symbol.asyncDispose]());
const it = (name: string, run: () => Promise<void>) => test(name, run, limit);

const stuck = balancer({ [argo.syncWave]: '1' });
const later = configMap('later', '1', { [argo.syncWave]: '5' });

it('a wave that never gets well holds back the later ones and says what it waits for; a new commit takes its place', async () => {
  const app = await world.app('stuck');
  await app.push({ 'app/a.yaml': configMap('a', '1'), 'app/stuck.yaml': stuck, 'app/later.yaml': later });
  await app.create();
  const { operationState } = await app.until('it waits', ({ operationState: state }) =>
    state?.message?.includes('Service stuck/lb'),
  );
  expect(operationState?.phase).toBe('Running');
  expect([await app.value('a'), await app.value('later')]).toEqual(['1', undefined]);
  const mended = await app.push({ 'app/a.yaml': configMap('a', '2'), 'app/later.yaml': later });
  expect((await app.settled(mended)).operationState?.phase).toBe('Succeeded');
  expect([await app.value('a'), await app.value('later')]).toEqual(['2', '1']);
  expect(await world.cluster.client.get(Service, { namespace: 'stuck', name: 'lb' })).toBeUndefined();
});

it('a repository that is gone in the middle of a synchronization: nothing is lost, and it goes on when it is back', async () => {
  const app = await world.app('vanished');
  await app.push({ 'app/a.yaml': configMap('a', '1'), 'app/stuck.yaml': stuck, 'app/later.yaml': later });
  await app.create();
  await app.until('it waits', ({ operationState }) => operationState?.phase === 'Running');
  world.repositories.down.add(app.url);
  const gone = await app.until('it says so', ({ conditions }) =>
    conditions?.some(({ type }) => type === 'ComparisonError'),
  );
  expect(gone).toMatchObject({ sync: { status: 'Unknown' }, operationState: { phase: 'Running' } });
  expect(await app.value('a')).toBe('1');
  world.repositories.down.delete(app.url);
  const commit = await app.push({ 'app/a.yaml': configMap('a', '1'), 'app/later.yaml': later });
  const status = await app.settled(commit);
  expect(status).toMatchObject({ operationState: { phase: 'Succeeded' }, conditions: [] });
  expect(await app.value('later')).toBe('1');
});

it('a chart that renders garbage shows where, and what is on the cluster stays', async () => {
  const app = await world.app('garbage');
  const chart = (template: string) => ({
    'app/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
    'app/templates/a.yaml': template,
  });
  await app.push(chart('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {value: "1"}\n'));
  await app.create();
  await app.settled();
  for (const [template, message] of [
    ['{{ .Values.missing.deep }}', 'a.yaml'],
    ['{{ if }}', 'a.yaml'],
    ['a: [b', 'a.yaml'],
    ['just text', 'a.yaml'],
    ['kind: ConfigMap\nmetadata: {name: a}\n', 'apiVersion'],
    [
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n`,
      'twice',
    ],
  ] as const) {
    await app.push(chart(template));
    const { conditions, sync } = await app.until(`${message} is named for ${template}`, ({ conditions: now }) =>
      now?.[0]?.message.includes(message),
    );
    expect(sync?.status).toBe('Unknown');
    expect(conditions).toMatchObject([{ type: 'ComparisonError' }]);
    expect(await app.value('a')).toBe('1');
    // Something else in between, so that the next one is not taken for this one.
    await app.push(
      chart(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {value: "1"}\n# ${template.length}\n`),
    );
    await app.until('it is well again', ({ sync: now }) => now?.status === 'Synced');
  }
});

it('a kind that nobody serves yet is waited for, with retries, and arrives with its definition', async () => {
  const app = await world.app('unserved');
  await app.push({
    'app/a.yaml': configMap('a', '1'),
    'app/lamp.yaml': 'apiVersion: unserved.example.com/v1\nkind: Lamp\nmetadata: {name: lamp}\n',
  });
  const retry = { limit: -1, backoff: { duration: '1s', maxDuration: '5s' } };
  await app.create({ syncPolicy: { automated: { prune: true, selfHeal: true }, retry } });
  const { operationState } = await app.until('it says which', ({ operationState: state }) =>
    state?.message?.includes('Lamp'),
  );
  expect(operationState?.phase).toBe('Running');
  const { client } = world.cluster;
  await client.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'lamps.unserved.example.com' },
    spec: {
      group: 'unserved.example.com',
      scope: 'Namespaced',
      names: { kind: 'Lamp', plural: 'lamps' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const status = await app.until('it arrives', ({ sync }) => sync?.status === 'Synced');
  expect(status.resources?.map(({ kind }) => kind).sort()).toEqual(['ConfigMap', 'Lamp']);
  await client.delete(CustomResourceDefinition, { name: 'lamps.unserved.example.com' });
});

it('two Applications that want one object: the first keeps it, and when it lets go the second gets it', async () => {
  const [one, two] = [await world.app('first-one'), await world.app('second-one')];
  for (const app of [one, two])
    await app.push({ 'app/a.yaml': configMap('a', app.name), 'app/own.yaml': configMap(app.name, '1') });
  await one.create();
  await one.settled();
  const retry = { limit: -1, backoff: { duration: '1s', maxDuration: '5s' } };
  const destination = { server: 'https://kubernetes.default.svc', namespace: 'first-one' };
  await two.create({ destination, syncPolicy: { automated: { prune: true, selfHeal: true }, retry } });
  await two.until('it says so', ({ conditions }) => conditions?.some(({ type }) => type === 'SharedResourceWarning'));
  expect(await one.value('a')).toBe('first-one');
  await one.push({ 'app/own.yaml': configMap('first-one', '1') });
  const status = await two.until('it gets it', ({ sync }) => sync?.status === 'Synced');
  expect(status.conditions).toEqual([]);
  const live = await world.cluster.client.get(ConfigMap, { namespace: 'first-one', name: 'a' });
  expect(live?.data).toEqual({ value: 'second-one' });
});
