import { ConfigMap, CustomResourceDefinition, Job, newObject } from '@slipway/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Application } from '../src/argo/application.ts';
import { argo, helm } from '../src/argo/words.ts';
import { configMap, hookJob, syncWorld, type SyncWorld, type TestApplication } from './sync-kit.ts';

const limit = 120_000;
let world: SyncWorld;
beforeAll(async () => (world = await syncWorld({ controllers: 'workloads' })), limit);
afterAll(async () => await world[Symbol.asyncDispose]());
const it = (name: string, run: () => Promise<void>) => test(name, run, limit);

const hookFinalizers = [
  argo.preDelete,
  `${argo.preDelete}/cleanup`,
  argo.postDelete,
  `${argo.postDelete}/cleanup`,
].sort();

const remove = async ({ name }: TestApplication) =>
  void (await world.cluster.client.delete(Application, { namespace: 'argocd', name }));
const isGone = async (app: TestApplication) =>
  await world.cluster.eventually(`${app.name} is gone`, async () => {
    await world.repositories.idle();
    return (await app.get()) === undefined;
  });
const deletionError = async (app: TestApplication) =>
  (
    await app.until('it says why', ({ conditions }) => conditions?.some(({ type }) => type === 'DeletionError'))
  ).conditions!.find(({ type }) => type === 'DeletionError')!.message;

it('PreDelete hooks run before anything goes, PostDelete hooks after everything has gone, and none is left', async () => {
  const app = await world.app('hooked');
  const order: string[] = [];
  await app.push({
    'app/a.yaml': configMap('a', '1'),
    'app/pre.yaml': hookJob({ name: 'pre', annotations: { [helm.hook]: 'pre-delete' } }),
    'app/post.yaml': hookJob({ generateName: 'post-', annotations: { [argo.hook]: 'PostDelete' } }),
    'app/kept.yaml': configMap('kept', '1', { [argo.hook]: 'PostDelete', [argo.hookDeletePolicy]: 'HookFailed' }),
    'app/skipped.yaml': configMap('skipped', '1', { [argo.hook]: 'Skip' }),
  });
  await app.create({}, { finalizers: [argo.cascade] });
  const { conditions } = await app.settled();
  expect(conditions).toEqual([]);
  expect((await app.get())?.metadata.finalizers?.toSorted()).toEqual([...hookFinalizers, argo.cascade].sort());
  const { client } = world.cluster;
  const jobs = async () => (await client.listPage(Job, { namespace: 'hooked' })).items;
  expect(await jobs()).toEqual([]);
  await remove(app);
  await world.cluster.eventually('hooked is gone', async () => {
    await world.repositories.idle();
    const what = (await jobs()).map(({ metadata }) => metadata.name!.split('-')[0]!);
    const isThere = (await app.value('a')) !== undefined;
    for (const name of what) order.push(`${name} ${isThere ? 'before' : 'after'}`);
    return (await app.get()) === undefined;
  });
  expect([...new Set(order)]).toEqual(['pre before', 'post after']);
  expect([await app.value('a'), await app.value('skipped'), await jobs()]).toEqual([undefined, undefined, []]);
  // Its policy is to go only when it fails.
  expect(await app.value('kept')).toBe('1');
});

it('without the cascading finalizer hooks of a deletion run all the same, and what was brought stays', async () => {
  const app = await world.app('hooked-leaving');
  const annotations = { [argo.hook]: 'PostDelete', [argo.hookDeletePolicy]: 'HookFailed' };
  await app.push({ 'app/a.yaml': configMap('a', '1'), 'app/post.yaml': hookJob({ name: 'post', annotations }) });
  const runs: (string | undefined)[] = [];
  // The second is another Application of the same name, and the hook of the first is no answer to whether its own has run.
  for (const _round of [1, 2]) {
    await app.create();
    await app.until('it is in sync', ({ sync }) => sync?.status === 'Synced');
    await remove(app);
    await isGone(app);
    const job = await world.cluster.client.get(Job, { namespace: 'hooked-leaving', name: 'post' });
    runs.push(job?.metadata.uid);
  }
  expect(await app.value('a')).toBe('1');
  expect(runs).not.toContain(undefined);
  expect(new Set(runs).size).toBe(2);
});

it('a source that has no such hooks any more takes their finalizers away', async () => {
  const app = await world.app('unhooked');
  await app.push({
    'app/a.yaml': configMap('a', '1'),
    'app/b.yaml': configMap('b', '1', { [argo.hook]: 'PostDelete' }),
  });
  await app.create();
  await app.settled();
  expect((await app.get())?.metadata.finalizers).toEqual([argo.postDelete, `${argo.postDelete}/cleanup`]);
  await app.settled(await app.push({ 'app/a.yaml': configMap('a', '2') }));
  expect((await app.get())?.metadata.finalizers ?? []).toEqual([]);
});

it('an Application that Argo CD left behind in the middle of its deletion goes, with every finalizer it may have', async () => {
  const app = await world.app('left-behind');
  const { client } = world.cluster;
  await app.push({ 'app/a.yaml': configMap('a', '1') });
  // As Argo CD brought it: by its mark, and in its list.
  const annotations = { [argo.trackingId]: 'left-behind:/ConfigMap:left-behind/a' };
  await client.create(
    newObject(ConfigMap, { metadata: { namespace: 'left-behind', name: 'a', annotations }, data: { value: '1' } }),
  );
  const finalizers = [...hookFinalizers, `${argo.cascade}/background`];
  await app.create({ syncPolicy: {} }, { finalizers, annotations: { [argo.skipReconcile]: 'true' } });
  await app.patch({
    status: { resources: [{ version: 'v1', kind: 'ConfigMap', namespace: 'left-behind', name: 'a' }] },
  });
  await remove(app);
  await isGone(app);
  expect(await app.value('a')).toBeUndefined();
});

it('a hook that fails keeps the Application and says why; corrected, it runs again', async () => {
  const app = await world.app('hook-fails');
  const post = { [argo.hook]: 'PostDelete' };
  await app.push({ 'app/a.yaml': configMap('a', '1'), 'app/post.yaml': configMap('Bad_Name', '1', post) });
  await app.create({}, { finalizers: [argo.cascade] });
  await app.settled();
  await remove(app);
  expect(await deletionError(app)).toMatch(
    /^PostDelete hook ConfigMap hook-fails\/Bad_Name was refused: .*; correct it and it runs again, or remove the finalizer post-delete-finalizer/,
  );
  expect(await app.value('a')).toBeUndefined();
  await app.push({ 'app/a.yaml': configMap('a', '1'), 'app/post.yaml': configMap('good-name', '1', post) });
  await isGone(app);
});

it('a hook that ran and failed is taken away, so that the corrected one runs', async () => {
  const app = await world.app('hook-stalls');
  const { client } = world.cluster;
  const group = 'hooks.example.com';
  const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await client.create(
    newObject(CustomResourceDefinition, {
      metadata: { name: `lamps.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind: 'Lamp', plural: 'lamps' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: any } }],
      },
    }),
  );
  const lamp = (status: object) => ({
    'app/a.yaml': configMap('a', '1'),
    'app/post.yaml': JSON.stringify({
      apiVersion: `${group}/v1`,
      kind: 'Lamp',
      metadata: { name: 'post', annotations: { [argo.hook]: 'PostDelete' } },
      status,
    }),
  });
  await app.push(lamp({ conditions: [{ type: 'Stalled', status: 'True', reason: 'Dark', message: 'no light' }] }));
  await app.create();
  await app.settled();
  await remove(app);
  await app.until('it says why', ({ conditions }) =>
    conditions?.some(({ type, message }) => type === 'DeletionError' && message.includes('it is stalled: no light')),
  );
  await app.push(lamp({}));
  await isGone(app);
  await client.delete(CustomResourceDefinition, { name: `lamps.${group}` });
});

it('hooks whose source cannot be read keep the Application and say why; without their finalizers it goes', async () => {
  const app = await world.app('unreadable');
  await app.push({
    'app/a.yaml': configMap('a', '1'),
    'app/b.yaml': configMap('b', '1', { [argo.hook]: 'PreDelete' }),
  });
  await app.create({}, { finalizers: [argo.cascade] });
  await app.settled();
  world.repositories.down.add(app.url);
  await remove(app);
  expect(await deletionError(app)).toBe(
    `PreDelete hooks cannot be read: the Git server does not answer; correct it, or remove the finalizer ${argo.preDelete} to go on without`,
  );
  expect(await app.value('a')).toBe('1');
  await app.patch({ metadata: { finalizers: [argo.cascade] } });
  await isGone(app);
  expect(await app.value('a')).toBeUndefined();
});
