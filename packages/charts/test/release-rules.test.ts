import {
  type Clock,
  ConfigMap,
  createClient,
  CustomResourceDefinition,
  Deployment,
  Job,
  type KubeObject,
  Namespace,
  Secret,
} from '@slipway/kube';
import { KillableTransport, onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import {
  type Chart,
  installRelease,
  loadFiles,
  type ReleaseContext,
  ReleaseStorage,
  rollbackRelease,
  uninstallRelease,
  upgradeRelease,
} from '../src/index.ts';
import { planInstallation, planUpgrade, renderInstallation } from '../src/release/dry-run.ts';
import { testRelease } from '../src/release/test-release.ts';

const release = { name: 'shop', namespace: 'default' };

async function chartOf(files: Readonly<Record<string, string>>): Promise<Chart> {
  const all = { 'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n', ...files };
  return await loadFiles(Object.entries(all).map(([name, text]) => ({ name, data: Buffer.from(text) })));
}

const configOf = (name: string, data: Record<string, string> = {}, annotations: Record<string, string> = {}): string =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, annotations: ${JSON.stringify(annotations)}}\ndata: ${JSON.stringify(data)}\n`;
const plain = async (): Promise<Chart> => await chartOf({ 'templates/a.yaml': configOf('a', { x: 'y' }) });
const at = (name: string) => ({ namespace: 'default', name });

async function started(controllers: 'core' | 'workloads' = 'core') {
  const cluster = await testCluster({ controllers });
  return { cluster, context: { client: cluster.client, clock: cluster.clock } };
}

async function done<T>(cluster: TestCluster, work: Promise<T>): Promise<T> {
  let outcome: PromiseSettledResult<T> | undefined;
  void Promise.allSettled([work]).then(([settled]) => (outcome = settled));
  const settled = await cluster.eventually('it is done', () => outcome);
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** A Job as a hook, which never ends. */
const idleHook = (event: string): string =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: {name: idle, annotations: {helm.sh/hook: ${event}}}\nspec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n`;

/** Listens from the start: a refusal may come before anybody asks for it. */
async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => 'nothing was refused',
    (error: unknown) => error,
  );
}

async function statuses({ client }: TestCluster): Promise<string[]> {
  const stored = await new ReleaseStorage(client, () => 0).history('default', 'shop');
  return stored.map(({ release: { revision, status } }) => `${revision} ${status}`);
}

describe('what a release is made of', () => {
  const sharesKinds = skipped(onReference, 'definitions that stay: tests share the kinds of the real cluster');

  test.skipIf(sharesKinds)(
    'templates of an installation see the kinds its crds/ brings, and one that is there stays as it is',
    async () => {
      const { cluster, context } = await started();
      await using _cluster = cluster;
      const definition = (description: string): string =>
        `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.rules.example }
spec:
  group: rules.example
  names: { kind: Thing, plural: things }
  scope: Namespaced
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, description: ${description} } } }
`;
      const chart = async (description: string): Promise<Chart> =>
        await chartOf({
          'crds/things.yaml': definition(description),
          'templates/thing.yaml':
            '{{ if .Capabilities.APIVersions.Has "rules.example/v1/Thing" }}\napiVersion: rules.example/v1\nkind: Thing\nmetadata: {name: {{ .Release.Name }}}\n{{ end }}\n',
        });
      const first = await done(cluster, installRelease(context, await chart('one'), release));
      expect(first.manifest).toContain('kind: Thing');
      await done(cluster, installRelease(context, await chart('two'), { ...release, name: 'other' }));
      const found = await cluster.client.get(CustomResourceDefinition, { name: 'things.rules.example' });
      expect(JSON.stringify(found)).toContain('"description":"one"');
    },
  );

  test('an object that cannot be made keeps no other from being made when a release is installed', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf({ 'templates/all.yaml': `${configOf('"Not A Name"')}${configOf('z')}` });
    await expect(done(cluster, installRelease(context, chart, release))).rejects.toThrow('Not A Name');
    expect(await cluster.client.get(ConfigMap, at('z'))).toBeDefined();
  });

  test('an object without a name, and a name Helm would not find, are refused before anything is written', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const nameless = await chartOf({
      'templates/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n',
    });
    await expect(done(cluster, installRelease(context, nameless, release))).rejects.toThrow(
      'a ConfigMap with generateName made- of the chart has no metadata.name',
    );
    for (const name of ['Shop', 'a'.repeat(54), 'shop-'])
      await expect(done(cluster, installRelease(context, await plain(), { ...release, name }))).rejects.toThrow(
        'cannot be the name of a release',
      );
    expect(await cluster.client.get(ConfigMap, at('a'))).toBeUndefined();
    expect(
      (await cluster.client.listPage(Secret, { namespace: 'default', labelSelector: 'owner=helm' })).items,
    ).toEqual([]);
  });

  test('taking an object over leaves conflicts to --force-conflicts', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at('a'), data: { x: 'mine' } } as KubeObject;
    await cluster.client.create(theirs, { fieldManager: 'somebody' });
    const options = { ...release, takeOwnership: true, replace: true };
    await expect(done(cluster, installRelease(context, await plain(), options))).rejects.toThrow(/conflict/i);
    await done(cluster, installRelease(context, await plain(), { ...options, forceConflicts: true }));
    expect((await cluster.client.get(ConfigMap, at('a')))?.data).toEqual({ x: 'y' });
  });

  test('a namespace is made after the chart was rendered, and marked when it is there', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const broken = await chartOf({ 'templates/a.yaml': '{{ fail "no" }}' });
    const options = { name: 'shop', namespace: 'rules-new', createNamespace: true };
    await expect(done(cluster, installRelease(context, broken, options))).rejects.toThrow('no');
    expect(await cluster.client.get(Namespace, { name: 'rules-new' })).toBeUndefined();
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'rules-new' } });
    await done(cluster, installRelease(context, await plain(), options));
    const made = await cluster.client.get(Namespace, { name: 'rules-new' });
    expect(made?.metadata.labels).toMatchObject({ name: 'rules-new' });
  });

  test('labels stay until one is said to be null, also through a revision that failed', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const broken = await chartOf({ 'templates/a.yaml': configOf('"Not A Name"') });
    const chart = await plain();
    await done(cluster, installRelease(context, chart, { ...release, labels: { team: 'a', none: '' } }));
    const failing = upgradeRelease(context, broken, { ...release, labels: { failed: 'yes' } });
    await expect(done(cluster, failing)).rejects.toMatchObject({ code: 'Refused' });
    const last = await done(cluster, upgradeRelease(context, chart, { ...release, labels: { team: 'null' } }));
    expect(last.labels).toEqual({ none: '', failed: 'yes' });
  });

  test('a name that is used again shows templates a first revision', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf({ 'templates/a.yaml': configOf('a', { revision: '{{ .Release.Revision }}' }) });
    await done(cluster, installRelease(context, chart, release));
    await done(cluster, uninstallRelease(context, { ...release, keepHistory: true }));
    const again = await done(cluster, installRelease(context, chart, { ...release, replace: true }));
    expect(again.revision).toBe(2);
    expect((await cluster.client.get(ConfigMap, at('a')))?.data).toEqual({ revision: '1' });
  });

  test('null with --reuse-values and --reset-then-reuse-values takes off what the user said, not the default', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chartWith = async (defaults: string): Promise<Chart> =>
      await chartOf({
        'values.yaml': defaults,
        'templates/a.yaml':
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {values: {{ .Values | toJson | quote }}}\n',
      });
    const values = async () =>
      JSON.parse((await cluster.client.get(ConfigMap, at('a')))!.data!['values']!) as Record<string, unknown>;
    await done(
      cluster,
      installRelease(context, await chartWith('a: 1\nb: 1\n'), { ...release, values: { a: 2, b: 2 } }),
    );
    const next = await chartWith('a: 3\nb: 3\nc: 3\n');
    const gone = { a: null };
    await done(cluster, upgradeRelease(context, next, { ...release, values: gone, valuesFrom: 'reset-then-reuse' }));
    expect(await values()).toEqual({ a: 3, b: 2, c: 3 });
    await done(cluster, rollbackRelease(context, { ...release, revision: 1 }));
    // Here the last values are the defaults.
    await done(cluster, upgradeRelease(context, next, { ...release, values: gone, valuesFrom: 'reuse' }));
    expect(await values()).toEqual({ a: 2, b: 2 });
  });

  test('a hook that is refused after everything went lets the release go', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const hook = configOf('"Not A Name"', {}, { 'helm.sh/hook': 'post-delete' });
    const chart = await chartOf({ 'templates/a.yaml': configOf('a'), 'templates/hook.yaml': hook });
    await done(cluster, installRelease(context, chart, release));
    await expect(done(cluster, uninstallRelease(context, release))).rejects.toMatchObject({ code: 'HookFailed' });
    expect(await statuses(cluster)).toEqual([]);
  });

  test.for(['upgrade', 'rollback'] as const)('%s that fails cleans up only what is still its own', async (work) => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf({
      'templates/a.yaml': `${configOf('a')}${configOf('theirs')}${configOf('ours')}`,
      'templates/hook.yaml': idleHook(`post-${work}`),
    });
    if (work === 'rollback') await done(cluster, installRelease(context, chart, release));
    await done(cluster, upgradeRelease(context, await plain(), { ...release, install: true }));
    const options = { ...release, cleanupOnFail: true, timeoutMs: 10_000 };
    const failed = refusalOf(
      done(cluster, work === 'upgrade' ? upgradeRelease(context, chart, options) : rollbackRelease(context, options)),
    );
    await cluster.eventually('it is made', async () => await cluster.client.get(Job, at('idle')));
    const body = { metadata: { annotations: { 'meta.helm.sh/release-name': 'other' } } };
    await cluster.client.patch(ConfigMap, at('theirs'), { type: 'merge', body });
    expect(await failed).toMatchObject({ code: 'HookFailed' });
    expect(await cluster.client.get(ConfigMap, at('theirs'))).toBeDefined();
    expect(await cluster.client.get(ConfigMap, at('ours'))).toBeUndefined();
  });

  test('tests of a release that somebody upgraded meanwhile leave the new revision the only one that is deployed', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf({ 'templates/hook.yaml': idleHook('test') });
    await done(cluster, installRelease(context, chart, release));
    const tested = refusalOf(done(cluster, testRelease(context, { ...release, timeoutMs: 10_000 })));
    await cluster.eventually('it is made', async () => await cluster.client.get(Job, at('idle')));
    await done(cluster, upgradeRelease(context, await plain(), release));
    expect(await tested).toMatchObject({ code: 'Busy' });
    expect(await statuses(cluster)).toEqual(['1 superseded', '2 deployed']);
  });

  test('a dry run refuses what the work itself refuses, and answers with its labels', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const nameless = await chartOf({
      'templates/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n',
    });
    const looking = { ...release, looksUp: true };
    await expect(planInstallation(context, nameless, release)).rejects.toThrow('has no metadata.name');
    const wrong = { ...release, name: 'Shop' };
    for (const plan of [planInstallation, renderInstallation])
      await expect(plan(context, await plain(), wrong)).rejects.toThrow('cannot be the name of a release');
    await done(cluster, installRelease(context, await plain(), { ...release, labels: { team: 'a', tier: 'b' } }));
    await expect(planUpgrade(context, nameless, looking)).rejects.toThrow('has no metadata.name');
    const planned = await planUpgrade(context, await plain(), { ...looking, labels: { team: 'null' } });
    expect(planned.labels).toEqual({ tier: 'b' });
  });

  test('nobody waits for a Deployment that is paused, nor for the end of a Job unless that is said', async () => {
    const { cluster, context } = await started('workloads');
    await using _cluster = cluster;
    const pod = '{restartPolicy: RESTART, containers: [{name: a, image: a}]}';
    const chart = await chartOf({
      'templates/web.yaml': `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {paused: true, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: ${pod.replace('RESTART', 'Always')}}}\n`,
      'templates/job.yaml': `apiVersion: batch/v1\nkind: Job\nmetadata: {name: work}\nspec: {template: {spec: ${pod.replace('RESTART', 'Never')}}}\n`,
    });
    const installed = await done(cluster, installRelease(context, chart, { ...release, wait: true }));
    expect(installed.status).toBe('deployed');
    expect((await cluster.client.get(Deployment, at('web')))?.spec?.paused).toBe(true);
    await done(cluster, upgradeRelease(context, chart, { ...release, wait: true, waitForJobs: true }));
    const job = (await cluster.client.get(Job, at('work'))) as unknown as { status: { succeeded?: number } };
    expect(job.status.succeeded).toBe(1);
  });
});

/** A second process, which sleeps from its first request to `path` on until it is woken. */
function sleeper(cluster: TestCluster, falls: (method: string, path: string) => boolean) {
  let wake: () => void = () => undefined;
  let isAsleep = false;
  const awake = new Promise<void>((resolve) => (wake = resolve));
  const inner = new KillableTransport(cluster.transport(), () => false);
  const held: (() => void)[] = [];
  const clock: Clock = {
    now: () => cluster.clock.now(),
    monotonic: () => cluster.clock.monotonic(),
    // Its timers sleep with it.
    schedule: (delayMs, callback) =>
      cluster.clock.schedule(delayMs, () => (isAsleep ? held.push(callback) : callback())),
  };
  const client = createClient({
    transport: {
      async send(request, signal) {
        const answer = await inner.send(request, signal);
        if (!isAsleep && falls(request.method, request.path)) isAsleep = true;
        if (isAsleep) await awake;
        return answer;
      },
      open: (request, handler) => inner.open(request, handler),
      close: async () => await inner.close(),
    },
    fieldManager: 'helm',
    clock,
  });
  const context: ReleaseContext = { client, clock };
  return {
    context,
    asleep: () => isAsleep,
    wake(): void {
      isAsleep = false;
      wake();
      for (const callback of held) callback();
    },
  };
}

describe.skipIf(skipped(onReference, 'processes that sleep for longer than ten minutes: needs virtual time'))(
  'who comes back to a revision that is no longer theirs',
  () => {
    const chart = async (value: string): Promise<Chart> =>
      await chartOf({ 'templates/all.yaml': `${configOf('a', { value })}${configOf('b', { value })}` });

    test('having slept for more than ten minutes, writes neither objects nor records', async () => {
      const { cluster, context } = await started();
      await using _cluster = cluster;
      await done(cluster, installRelease(context, await chart('1'), release));
      const slept = sleeper(cluster, (method, path) => method === 'PATCH' && path.includes('/configmaps/a'));
      const late = upgradeRelease(slept.context, await chart('late'), { ...release, rollbackOnFailure: true });
      const refused = refusalOf(done(cluster, late));
      await cluster.eventually('it sleeps', slept.asleep);
      await cluster.advance(660_000);
      await done(cluster, upgradeRelease(context, await chart('3'), release));
      slept.wake();
      expect(await refused).toMatchObject({ code: 'Busy' });
      expect((await cluster.client.get(ConfigMap, at('b')))?.data).toEqual({ value: '3' });
      expect(await statuses(cluster)).toEqual(['1 superseded', '2 failed', '3 deployed']);
    });

    test('finds that nobody went on, and ends its work', async () => {
      const { cluster, context } = await started();
      await using _cluster = cluster;
      await done(cluster, installRelease(context, await chart('1'), release));
      const slept = sleeper(cluster, (method, path) => method === 'PATCH' && path.includes('/configmaps/a'));
      const late = done(cluster, upgradeRelease(slept.context, await chart('late'), release));
      await cluster.eventually('it sleeps', slept.asleep);
      await cluster.advance(660_000);
      slept.wake();
      expect((await late).status).toBe('deployed');
      expect(await statuses(cluster)).toEqual(['1 superseded', '2 deployed']);
    });

    test('as the helm command went on with a rollback, leaves that one deployed', async () => {
      const { cluster, context } = await started();
      await using _cluster = cluster;
      const first = await done(cluster, installRelease(context, await chart('1'), release));
      const slept = sleeper(cluster, (method, path) => method === 'PATCH' && path.includes('/configmaps/b'));
      const late = upgradeRelease(slept.context, await chart('late'), release);
      const refused = refusalOf(done(cluster, late));
      await cluster.eventually('it sleeps', slept.asleep);
      const storage = new ReleaseStorage(cluster.client, () => cluster.clock.now());
      await storage.update({ ...first, status: 'superseded' });
      await storage.create({ ...first, revision: 3, status: 'deployed' });
      slept.wake();
      expect(String(await refused)).toContain('somebody else went on from revision 2');
      expect(await statuses(cluster)).toEqual(['1 superseded', '2 failed', '3 deployed']);
      await done(cluster, upgradeRelease(context, await chart('4'), release));
      expect(await statuses(cluster)).toEqual(['1 superseded', '2 failed', '3 superseded', '4 deployed']);
    });

    test('as somebody deleted an older record, ends its work', async () => {
      const { cluster, context } = await started();
      await using _cluster = cluster;
      const first = await done(cluster, installRelease(context, await chart('1'), release));
      const slept = sleeper(cluster, (method, path) => method === 'PATCH' && path.includes('/configmaps/b'));
      const late = done(cluster, upgradeRelease(slept.context, await chart('2'), release));
      await cluster.eventually('it sleeps', slept.asleep);
      await new ReleaseStorage(cluster.client, () => 0).delete(first);
      slept.wake();
      await late;
      expect(await statuses(cluster)).toEqual(['2 deployed']);
    });

    test('as the server did not take its last word at first, says it again', async () => {
      const { cluster } = await started();
      await using _cluster = cluster;
      let refusals = 2;
      const inner = cluster.transport();
      const body = Buffer.from(
        JSON.stringify({
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Failure',
          reason: 'ServiceUnavailable',
          code: 503,
        }),
      );
      const client = createClient({
        transport: {
          send: async (request, signal) =>
            request.method === 'PATCH' && request.path.includes('/secrets/') && refusals-- > 0
              ? { status: 503, headers: { 'content-type': 'application/json' }, body }
              : await inner.send(request, signal),
          open: (request, handler) => inner.open(request, handler),
          close: async () => await inner.close(),
        },
        fieldManager: 'helm',
        clock: cluster.clock,
      });
      await done(cluster, installRelease({ client, clock: cluster.clock }, await chart('1'), release));
      expect(refusals).toBeLessThan(0);
      expect(await statuses(cluster)).toEqual(['1 deployed']);
    });
  },
);
