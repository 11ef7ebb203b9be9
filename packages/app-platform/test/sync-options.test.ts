import { ConfigMap, Deployment, Job, ReplicaSet, Service } from '@slipway/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Application } from '../src/argo/application.ts';
import { argo } from '../src/argo/words.ts';
import { balancer, configMap, syncWorld, type SyncWorld, type TestApplication } from './sync-kit.ts';

const limit = 120_000;
let world: SyncWorld;
beforeAll(async () => (world = await syncWorld({ controllers: 'workloads' })), limit);
afterAll(async () => await world[Symbol.asyncDispose]());
const it = (name: string, run: () => Promise<void>) => test(name, run, limit);

const job = (image: string, options?: string) => {
  const annotations = options === undefined ? {} : { [argo.syncOptions]: options };
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] } };
  return JSON.stringify({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once', annotations },
    spec: { template },
  });
};

async function uidOf(app: TestApplication): Promise<string | undefined> {
  return (await world.cluster.client.get(Job, { namespace: app.name, name: 'once' }))?.metadata.uid;
}

it('Replace=true never deletes: what cannot be changed fails. Force=true makes it anew', async () => {
  const app = await world.app('forced');
  const retry = { limit: 0 };
  await app.push({ 'app/job.yaml': job('one', 'Replace=true') });
  await app.create({ syncPolicy: { automated: {}, retry } });
  await app.settled();
  const first = await uidOf(app);
  const status = await app.settled(await app.push({ 'app/job.yaml': job('two', 'Replace=true') }));
  expect(status.operationState).toMatchObject({
    phase: 'Failed',
    message: expect.stringContaining('Job.batch forced/once'),
  });
  expect(await uidOf(app)).toBe(first);
  const forced = await app.settled(await app.push({ 'app/job.yaml': job('three', 'Force=true') }));
  expect(forced.operationState).toMatchObject({ phase: 'Succeeded' });
  expect(await uidOf(app)).not.toBe(first);
});

it('Replace=true takes away what others set, an apply leaves it', async () => {
  const [replaced, applied] = [await world.app('replaced'), await world.app('applied')];
  const { client } = world.cluster;
  for (const [app, options] of [
    [replaced, { [argo.syncOptions]: 'Replace=true' }],
    [applied, {}],
  ] as const) {
    await app.push({ 'app/a.yaml': configMap('a', '1', options) });
    await app.create();
    await app.settled();
    const body = { data: { other: 'theirs' } };
    await client.patch(ConfigMap, { namespace: app.name, name: 'a' }, { type: 'merge', body });
    await app.settled(await app.push({ 'app/a.yaml': configMap('a', '2', options) }));
  }
  const data = async (namespace: string) => (await client.get(ConfigMap, { namespace, name: 'a' }))?.data;
  expect(await data('replaced')).toEqual({ value: '2' });
  expect(await data('applied')).toEqual({ value: '2', other: 'theirs' });
  expect((await replaced.status()).sync?.status).toBe('Synced');
});

it('PrunePropagationPolicy=orphan leaves what depends on a pruned object', async () => {
  const app = await world.app('orphaned');
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
  const web = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, template },
  };
  const keep = { 'app/a.yaml': configMap('a', '1') };
  await app.push({ ...keep, 'app/web.yaml': JSON.stringify(web) });
  await app.create({ syncPolicy: { automated: { prune: true }, syncOptions: ['PrunePropagationPolicy=orphan'] } });
  await app.settled();
  const { client } = world.cluster;
  const sets = async () => (await client.listPage(ReplicaSet, { namespace: 'orphaned' })).items;
  await world.cluster.eventually('it runs', async () => (await sets()).length === 1);
  await app.settled(await app.push(keep));
  await world.cluster.eventually(
    'the Deployment is gone',
    async () => (await client.get(Deployment, { namespace: 'orphaned', name: 'web' })) === undefined,
  );
  expect((await sets()).map(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([[]]);
});

it('Delete=false keeps an object when the Application goes with everything else', async () => {
  const app = await world.app('kept-last');
  await app.push({
    'app/a.yaml': configMap('a', '1'),
    'app/b.yaml': configMap('b', '1', { [argo.syncOptions]: 'Delete=false' }),
  });
  await app.create({}, { finalizers: [argo.cascade] });
  await app.settled();
  await world.cluster.client.delete(Application, { namespace: 'argocd', name: 'kept-last' });
  await world.cluster.eventually('it is gone', async () => (await app.get()) === undefined);
  expect([await app.value('a'), await app.value('b')]).toEqual([undefined, '1']);
});

it('IgnoreExtraneous: an object that is left over does not count as a difference', async () => {
  const app = await world.app('extraneous');
  const marks = { [argo.compareOptions]: 'IgnoreExtraneous', [argo.syncOptions]: 'Prune=false' };
  await app.push({ 'app/a.yaml': configMap('a', '1'), 'app/b.yaml': configMap('b', '1', marks) });
  await app.create();
  await app.settled();
  const commit = await app.push({ 'app/a.yaml': configMap('a', '2') });
  expect((await app.settled(commit)).sync?.status).toBe('Synced');
  expect(await app.value('b')).toBe('1');
});

it('an object that says so does not count for the health; the time of the health moves with it', async () => {
  const app = await world.app('unwell');
  await app.push({ 'app/lb.yaml': balancer({}) });
  await app.create();
  await app.settled();
  const waiting = await app.until('it waits for an address', ({ health }) => health?.status === 'Progressing');
  expect(waiting.health?.lastTransitionTime).toMatch(/^\d{4}-/);
  await app.push({ 'app/lb.yaml': balancer({ [argo.ignoreHealthcheck]: 'true' }) });
  await app.until('it does not count', ({ health }) => health?.status === 'Healthy');
  expect(await world.cluster.client.get(Service, { namespace: 'unwell', name: 'lb' })).toBeDefined();
});

it('skip-reconcile: it is left alone until that is taken away', async () => {
  const app = await world.app('skipped');
  await app.push({ 'app/a.yaml': configMap('a', '1') });
  await app.create({}, { annotations: { [argo.skipReconcile]: 'true' } });
  await world.cluster.advance(2000);
  expect([await app.value('a'), await app.status()]).toEqual([undefined, {}]);
  await app.patch({ metadata: { annotations: { [argo.skipReconcile]: null } } });
  await app.settled();
  expect(await app.value('a')).toBe('1');
});

it('an operation that cannot be done ends with an error that names its field; the Application goes on', async () => {
  const app = await world.app('asked');
  const commit = await app.push({ 'app/a.yaml': configMap('a', '1') });
  await app.create({ syncPolicy: {} });
  await app.until('the difference shows', ({ sync }) => sync?.status === 'OutOfSync');
  for (const [sync, field] of [
    [{ dryRun: true }, 'operation.sync.dryRun'],
    [{ resources: [{ kind: 'ConfigMap', name: 'a' }] }, 'operation.sync.resources'],
    [{ revision: 'other' }, 'operation.sync.revision'],
  ] as const) {
    await app.patch({ operation: { sync } });
    const { operationState } = await app.until(field, ({ operationState: state }) => state?.message?.includes(field));
    expect(operationState?.phase).toBe('Error');
    expect((await app.get())?.operation).toBeUndefined();
    expect(await app.value('a')).toBeUndefined();
  }
  await app.patch({ operation: { sync: { revision: commit } } });
  expect((await app.settled(commit)).operationState?.phase).toBe('Succeeded');
  expect(await app.value('a')).toBe('1');
});

it('an operation that somebody terminates is over', async () => {
  const app = await world.app('ended');
  await app.push({ 'app/pre.yaml': balancer({ [argo.hook]: 'PreSync' }), 'app/a.yaml': configMap('a', '1') });
  await app.create({ syncPolicy: {} });
  await app.patch({ operation: { sync: {} } });
  await app.until('it waits for its hook', ({ operationState }) => operationState?.message?.includes('PreSync hook'));
  await app.patch({ status: { operationState: { phase: 'Terminating' } } });
  const { operationState } = await app.until('it is over', ({ operationState: state }) => state?.phase === 'Failed');
  expect(operationState?.message).toBe('operation terminated');
  expect(await app.value('a')).toBeUndefined();
});

it('several sources: each says what it is, and their objects belong together', async () => {
  const app = await world.app('several');
  await app.push({
    'app/a.yaml': configMap('a', '1'),
    'chart/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
    'chart/templates/b.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {value: {{ .Capabilities.KubeVersion.Version | quote }}, api: {{ .Capabilities.APIVersions.Has "made.up/v1" | quote }}}\n',
  });
  const chart = { repoURL: app.url, path: 'chart', helm: { kubeVersion: '1.30.5', apiVersions: ['made.up/v1'] } };
  await app.create({ source: undefined, sources: [{ repoURL: app.url, path: 'app' }, chart] });
  const status = await app.settled();
  expect(status).toMatchObject({ sourceTypes: ['Directory', 'Helm'], sync: { status: 'Synced' } });
  const { data } = (await world.cluster.client.get(ConfigMap, { namespace: 'several', name: 'b' }))!;
  expect(data).toEqual({ value: 'v1.30.5', api: 'true' });
});
