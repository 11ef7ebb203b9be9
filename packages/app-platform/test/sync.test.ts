import {
  ConfigMap,
  Deployment,
  Job,
  Namespace,
  newObject,
  Secret,
  ValidatingWebhookConfiguration,
} from '@slipway/kube';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Application } from '../src/argo/application.ts';
import { argo, helm } from '../src/argo/words.ts';
import { configMap, hookJob, syncWorld, type SyncWorld } from './sync-kit.ts';

const limit = 120_000;
const chart = {
  'app/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'app/values.yaml': 'from: chart\nextra: chart\n',
  'app/crds/lamp.yaml': JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'lamps.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { kind: 'Lamp', plural: 'lamps' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }),
  'app/templates/lamp.yaml': 'apiVersion: shop.example.com/v1\nkind: Lamp\nmetadata: {name: lamp}\n',
  'app/templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {value: {{ list .Values.from .Values.extra .Release.Namespace | join " " | quote }}}\n',
  'app/over.yaml': 'from: file\nextra: file\n',
};

describe('Applications without Argo CD', () => {
  let world: SyncWorld;
  beforeAll(async () => (world = await syncWorld({ controllers: 'workloads' })), limit);
  afterAll(async () => await world[Symbol.asyncDispose]());
  const it = (name: string, run: () => Promise<void>) => test(name, run, limit);

  it('an automated Application brings the files of its folder, and says so as Argo CD would', async () => {
    const app = await world.app('plain');
    const commit = await app.push({ 'app/a.yaml': configMap('a', '1'), 'app/deep/b.yaml': configMap('b', '1') });
    await app.create();
    const status = await app.settled(commit);
    expect(await app.value('a')).toBe('1');
    expect(await app.value('b')).toBeUndefined();
    expect(status).toMatchObject({
      sourceType: 'Directory',
      sync: { status: 'Synced', revision: commit },
      health: { status: 'Healthy' },
      resources: [{ version: 'v1', kind: 'ConfigMap', namespace: 'plain', name: 'a', status: 'Synced' }],
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

  it('directory: recurse, include and exclude choose the files', async () => {
    const app = await world.app('chosen');
    await app.push({
      'app/a.yaml': configMap('a', '1'),
      'app/deep/b.yaml': configMap('b', '1'),
      'app/deep/c.json': configMap('c', '1'),
      'app/deep/d.txt': 'no manifest',
      'app/deep/e.yaml': configMap('e', '1'),
    });
    const source = {
      repoURL: app.url,
      path: 'app',
      directory: { recurse: true, include: '*/*.{yaml,json}', exclude: '*e.yaml' },
    };
    await app.create({ source });
    const { resources } = await app.settled();
    expect(resources?.map(({ name }) => name)).toEqual(['b', 'c']);
  });

  it('a chart: values from files, the Application and parameters, in this order; definitions first; CreateNamespace', async () => {
    const app = await world.app('chart');
    await app.push(chart);
    const helmSource = {
      releaseName: 'mine',
      valueFiles: ['over.yaml', 'missing.yaml'],
      ignoreMissingValueFiles: true,
      valuesObject: { from: 'canary-inline' },
      parameters: [{ name: 'extra', value: 'a,b' }],
    };
    await app.create({
      destination: { name: 'in-cluster', namespace: 'chart-made' },
      source: { repoURL: app.url, path: 'app', helm: helmSource },
      syncPolicy: {
        automated: {},
        syncOptions: ['CreateNamespace=true', 'ServerSideApply=true'],
        managedNamespaceMetadata: { labels: { made: 'yes' } },
      },
    });
    const status = await app.settled();
    expect(status).toMatchObject({ sourceType: 'Helm', operationState: { phase: 'Succeeded' } });
    const { client } = world.cluster;
    const made = await client.get(ConfigMap, { namespace: 'chart-made', name: 'mine' });
    expect(made?.data).toEqual({ value: 'canary-inline a,b chart-made' });
    expect((await client.get(Namespace, { name: 'chart-made' }))?.metadata.labels).toMatchObject({ made: 'yes' });
    expect(status.resources?.map(({ kind }) => kind).sort()).toEqual(['ConfigMap', 'CustomResourceDefinition', 'Lamp']);
    // Inline values hold passwords: the status has their fingerprint.
    expect(JSON.stringify(status)).not.toContain('canary');
  });

  it('self-heal: what somebody changes or deletes comes back; without it, it only shows', async () => {
    const [healed, shown] = [await world.app('healed'), await world.app('shown')];
    for (const app of [healed, shown]) await app.push({ 'app/a.yaml': configMap('a', app.name) });
    await healed.create();
    await shown.create({ syncPolicy: { automated: { prune: true } } });
    const { client } = world.cluster;
    for (const app of [healed, shown]) {
      await app.settled();
      await client.patch(
        ConfigMap,
        { namespace: app.name, name: 'a' },
        { type: 'merge', body: { data: { value: 'edited' } } },
      );
    }
    await world.cluster.eventually('the edit is taken back', async () => (await healed.value('a')) === 'healed');
    await shown.until('the edit shows', ({ sync }) => sync?.status === 'OutOfSync');
    expect(await shown.value('a')).toBe('edited');
    await client.delete(ConfigMap, { namespace: 'healed', name: 'a' });
    await world.cluster.eventually('it is made again', async () => (await healed.value('a')) === 'healed');
  });

  it('prune: what leaves the source goes, unless it says Prune=false or the policy does not prune', async () => {
    const [pruned, kept] = [await world.app('pruned'), await world.app('kept')];
    const all = {
      'app/a.yaml': configMap('a', '1'),
      'app/b.yaml': configMap('b', '1'),
      'app/c.yaml': configMap('c', '1', { [argo.syncOptions]: 'Prune=false' }),
    };
    for (const app of [pruned, kept]) await app.push(all);
    await pruned.create();
    await kept.create({ syncPolicy: { automated: {} } });
    for (const app of [pruned, kept]) {
      await app.settled();
      await app.push({ 'app/a.yaml': configMap('a', '2') });
    }
    await pruned.until(
      'b has left',
      ({ operationState: state }) =>
        state?.phase === 'Succeeded' &&
        state.syncResult?.resources?.some(({ name, status: how }) => name === 'b' && how === 'Pruned'),
    );
    expect([await pruned.value('a'), await pruned.value('b'), await pruned.value('c')]).toEqual(['2', undefined, '1']);
    const left = await kept.until('a has changed', ({ resources }) =>
      resources?.some(({ name, requiresPruning }) => name === 'b' && requiresPruning),
    );
    expect(left.sync?.status).toBe('OutOfSync');
    expect([await kept.value('a'), await kept.value('b')]).toEqual(['2', '1']);
  });

  it('a source that is suddenly empty wipes nothing out', async () => {
    const app = await world.app('emptied');
    await app.push({ 'app/a.yaml': configMap('a', '1') });
    await app.create();
    await app.settled();
    await app.push({ 'app/README.md': 'nothing here' });
    const { conditions } = await app.until('it says why', ({ conditions: now }) => now?.length);
    expect(conditions).toMatchObject([{ type: 'SyncError', message: expect.stringContaining('allowEmpty') }]);
    expect(await app.value('a')).toBe('1');
  });

  it('waves: a wave begins when the one before is healthy', async () => {
    const app = await world.app('waves');
    const web = (wave: string) =>
      JSON.stringify({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', annotations: { [argo.syncWave]: wave } },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
        },
      });
    await app.push({
      'app/late.yaml': configMap('late', '1', { [argo.syncWave]: '5' }),
      'app/web.yaml': web('1'),
      'app/early.yaml': configMap('early', '1', { [argo.syncWave]: '-1' }),
    });
    await app.create();
    const status = await app.settled();
    expect(status).toMatchObject({ health: { status: 'Healthy' }, operationState: { phase: 'Succeeded' } });
    const { client } = world.cluster;
    const order = async (name: string) =>
      Number((await client.get(ConfigMap, { namespace: 'waves', name }))!.metadata.resourceVersion);
    const available = (await client.get(Deployment, { namespace: 'waves', name: 'web' }))!;
    expect(await order('early')).toBeLessThan(Number(available.metadata.resourceVersion));
    expect(Number(available.metadata.resourceVersion)).toBeLessThan(await order('late'));
    expect(status.summary).toEqual({ images: ['nginx'] });
  });

  it('hooks: PreSync before, PostSync after, Helm hooks as Argo CD maps them, removed by their policy, anew each time', async () => {
    const app = await world.app('hooks');
    const files = (value: string) => ({
      'app/a.yaml': configMap('a', value),
      'app/pre.yaml': hookJob({ name: 'pre', annotations: { [helm.hook]: 'pre-install,pre-upgrade' } }),
      'app/post.yaml': hookJob({
        generateName: 'post-',
        annotations: { [argo.hook]: 'PostSync', [argo.hookDeletePolicy]: 'HookSucceeded' },
      }),
      'app/never.yaml': configMap('never', '1', { [helm.hook]: 'post-delete' }),
      'app/fail.yaml': configMap('failed', '1', { [argo.hook]: 'SyncFail' }),
    });
    const first = await app.push(files('1'));
    await app.create();
    const status = await app.settled(first);
    expect(status.operationState).toMatchObject({ phase: 'Succeeded' });
    expect(status.operationState?.syncResult?.resources).toMatchObject([
      { kind: 'Job', name: 'pre', hookType: 'PreSync', hookPhase: 'Succeeded' },
      { kind: 'ConfigMap', name: 'a', status: 'Synced' },
      { kind: 'Job', name: expect.stringMatching(/^post-.+/), hookType: 'PostSync', hookPhase: 'Succeeded' },
    ]);
    const { client } = world.cluster;
    const pre = (await client.get(Job, { namespace: 'hooks', name: 'pre' }))!;
    const a = (await client.get(ConfigMap, { namespace: 'hooks', name: 'a' }))!;
    expect(Number(pre.metadata.resourceVersion)).toBeLessThan(Number(a.metadata.resourceVersion));
    expect([await app.value('never'), await app.value('failed')]).toEqual([undefined, undefined]);
    await world.cluster.eventually('the PostSync hook is gone', async () => {
      const jobs = await client.listPage(Job, { namespace: 'hooks' });
      return jobs.items.every(({ metadata }) => metadata.name === 'pre');
    });

    await app.settled(await app.push(files('2')));
    expect((await client.get(Job, { namespace: 'hooks', name: 'pre' }))!.metadata.uid).not.toBe(pre.metadata.uid);
  });

  it('a refused object: nothing is applied, SyncFail hooks run, the attempt is repeated as often as it says, then it waits', async () => {
    const app = await world.app('refused');
    const bad = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'Bad_Name' },
      spec: { ports: [{ port: 80 }] },
    });
    const failing = {
      'app/bad.yaml': bad,
      'app/a.yaml': configMap('a', '1'),
      'app/fail.yaml': configMap('failed', '1', { [argo.hook]: 'SyncFail' }),
    };
    const commit = await app.push(failing);
    const retry = { limit: 2, backoff: { duration: '100ms', factor: 2, maxDuration: '1m' } };
    await app.create({ syncPolicy: { automated: { prune: true }, retry } });
    const status = await app.settled(commit);
    expect(status.operationState).toMatchObject({
      phase: 'Failed',
      retryCount: 2,
      message: expect.stringMatching(/^Service refused\/Bad_Name: .*\(retried 2 times\)$/),
    });
    expect([await app.value('failed'), await app.value('a')]).toEqual(['1', undefined]);
    await app.until('it says so', ({ conditions }) => conditions?.some(({ type }) => type === 'SyncError'));
    const mended = await app.push({ 'app/a.yaml': configMap('a', '2') });
    expect((await app.settled(mended)).conditions).toEqual([]);
    expect(await app.value('a')).toBe('2');
  });

  it('ignoreDifferences: what others set stays, whatever the source says', async () => {
    const app = await world.app('ignored');
    const rules = {
      operations: ['CREATE'],
      apiGroups: ['shop.example.com'],
      apiVersions: ['v1'],
      resources: ['lamps'],
    };
    const hook = (caBundle: string) =>
      JSON.stringify({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'slipway-test-ignored' },
        webhooks: [
          {
            name: 'a.shop.example.com',
            clientConfig: { url: 'https://127.0.0.1/', caBundle },
            rules: [rules],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            failurePolicy: 'Ignore',
          },
        ],
      });
    await app.push({ 'app/hook.yaml': hook('Cg==') });
    const group = 'admissionregistration.k8s.io';
    const jqPathExpressions = ['.webhooks[]?.clientConfig.caBundle'];
    await app.create({ ignoreDifferences: [{ group, kind: 'ValidatingWebhookConfiguration', jqPathExpressions }] });
    await app.settled();
    const { client } = world.cluster;
    const key = { name: 'slipway-test-ignored' };
    const operations = [{ op: 'replace' as const, path: '/webhooks/0/clientConfig/caBundle', value: 'CgoK' }];
    await client.patch(ValidatingWebhookConfiguration, key, { type: 'json', operations });
    const commit = await app.push({ 'app/hook.yaml': hook('Cg=='), 'app/a.yaml': configMap('a', '1') });
    await app.settled(commit);
    const bundle = (await client.get(ValidatingWebhookConfiguration, key))?.webhooks?.[0]?.clientConfig.caBundle;
    expect(bundle).toBe('CgoK');
    expect((await app.status()).sync?.status).toBe('Synced');
    await client.delete(ValidatingWebhookConfiguration, key);
  });

  it('without a policy nothing happens until somebody asks, by an operation', async () => {
    const app = await world.app('manual');
    const commit = await app.push({ 'app/a.yaml': configMap('a', '1') });
    await app.create({ syncPolicy: {} });
    const before = await app.until('the difference shows', ({ sync }) => sync?.status === 'OutOfSync');
    expect(before).toMatchObject({ health: { status: 'Missing' } });
    expect(await app.value('a')).toBeUndefined();
    await app.patch({ operation: { initiatedBy: { username: 'ann' }, sync: {} } });
    const status = await app.settled(commit);
    expect(status.operationState?.operation.initiatedBy).toEqual({ username: 'ann' });
    expect((await app.get())?.operation).toBeUndefined();
    expect(await app.value('a')).toBe('1');
  });

  it('a source that cannot be used shows where it is wrong, and the cluster stays', async () => {
    const app = await world.app('broken');
    await app.push({ 'app/a.yaml': configMap('a', '1') });
    await app.create();
    await app.settled();
    await app.push({ 'app/a.yaml': 'kind: ConfigMap\n' });
    const broken = await app.until('the mistake shows', ({ sync }) => sync?.status === 'Unknown');
    expect(broken.conditions).toMatchObject([{ type: 'ComparisonError', message: 'a.yaml: apiVersion is required' }]);
    world.repositories.down.add(app.url);
    await app.patch({ metadata: { annotations: { [argo.refresh]: 'normal' } } });
    await app.until('the server is down', ({ conditions }) => conditions?.[0]?.message.includes('does not answer'));
    world.repositories.down.delete(app.url);
    await app.patch({ spec: { source: { repoURL: 'ssh://git@example.com/a.git' } } });
    const invalid = await app.until(
      'the address is wrong',
      ({ conditions }) => conditions?.[0]?.type === 'InvalidSpecError',
    );
    expect(invalid.conditions![0]!.message).toContain('repoURL: must be the http or https address');
    expect(await app.value('a')).toBe('1');
    expect((await app.get())?.metadata.annotations?.[argo.refresh]).toBeUndefined();
  });

  it('an object of another Application is not taken', async () => {
    const [one, two] = [await world.app('one'), await world.app('two')];
    for (const app of [one, two]) await app.push({ 'app/a.yaml': configMap('a', app.name) });
    await one.create();
    await one.settled();
    await two.create({
      destination: { server: 'https://kubernetes.default.svc', namespace: 'one' },
      syncPolicy: { automated: {}, retry: { limit: 0 } },
    });
    const status = await two.settled();
    expect(status.operationState).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('ConfigMap one/a belongs to another'),
    });
    expect(status.conditions?.map(({ type }) => type)).toContain('SharedResourceWarning');
    expect(await one.value('a')).toBe('one');
  });

  it('deletion: with the finalizer everything it brought goes, without it everything stays', async () => {
    const [cascading, leaving] = [await world.app('cascading'), await world.app('leaving')];
    const files = {
      'app/a.yaml': configMap('a', '1'),
      'app/pre.yaml': hookJob({ name: 'pre', annotations: { [argo.hook]: 'PreSync' } }),
    };
    for (const app of [cascading, leaving]) await app.push(files);
    await cascading.create({}, { finalizers: [argo.cascade] });
    await leaving.create();
    const { client } = world.cluster;
    for (const app of [cascading, leaving]) {
      await app.settled();
      await client.delete(Application, { namespace: 'argocd', name: app.name });
      await world.cluster.eventually('the Application is gone', async () => (await app.get()) === undefined);
    }
    expect(await cascading.value('a')).toBeUndefined();
    expect(await client.get(Job, { namespace: 'cascading', name: 'pre' })).toBeUndefined();
    expect(await leaving.value('a')).toBe('1');
  });

  it('what Helm installed is taken over; a Secret keeps its values out of the status', async () => {
    const app = await world.app('adopted');
    const { client } = world.cluster;
    const annotations = { 'meta.helm.sh/release-name': 'adopted' };
    await client.create(
      newObject(Secret, { metadata: { namespace: 'adopted', name: 's', annotations }, data: { a: 'MQ==' } }),
    );
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'canary-secret' } };
    await app.push({ 'app/s.yaml': JSON.stringify(secret) });
    await app.create();
    const status = await app.settled();
    expect(status).toMatchObject({ sync: { status: 'Synced' }, operationState: { phase: 'Succeeded' } });
    expect(JSON.stringify([status, world.running.logs])).not.toContain('canary');
  });
});
