import {
  type Clock,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Job,
  type KubeObject,
  Secret,
} from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import {
  type Chart,
  installRelease,
  loadFiles,
  ReleaseStorage,
  rollbackRelease,
  uninstallRelease,
  upgradeRelease,
} from '../src/index.ts';

const files = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: "2"\n',
  'values.yaml': 'greeting: hello\nextra: true\nreplicas: 1\n',
  'templates/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
data:
  greeting: {{ .Values.greeting | quote }}
  revision: {{ .Release.Revision | quote }}
`,
  'templates/extra.yaml': `{{- if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-extra
{{- if .Values.keep }}
  annotations:
    helm.sh/resource-policy: keep
{{- end }}
{{- end }}
`,
  'templates/web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers: [{ name: web, image: web:1 }]
`,
  'templates/job.yaml': `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-prepare
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: job, image: job:1 }]
`,
  'templates/NOTES.txt': 'Say {{ .Values.greeting }}.',
};

async function shop(): Promise<Chart> {
  return await loadFiles(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })));
}

const release = { name: 'shop', namespace: 'default' };
const sharesKinds = skipped(onReference, 'a definition that stays: tests share the kinds of the real cluster');
const config = { namespace: 'default', name: 'shop-config' };
const extra = { namespace: 'default', name: 'shop-extra' };

async function started(): Promise<{ cluster: TestCluster; context: Parameters<typeof installRelease>[0] }> {
  const cluster = await testCluster({ controllers: 'workloads' });
  return { cluster, context: { client: cluster.client, clock: cluster.clock } };
}

/** Lets time pass while it works. */
async function done<T>(cluster: TestCluster, work: Promise<T>): Promise<T> {
  let outcome: { value: T } | { error: unknown } | undefined;
  work.then(
    (value) => (outcome = { value }),
    (error: unknown) => (outcome = { error }),
  );
  const settled = await cluster.eventually('it is done', () => outcome);
  if ('error' in settled) throw settled.error;
  return (settled as { value: T }).value;
}

async function statuses(cluster: TestCluster): Promise<string[]> {
  const stored = await new ReleaseStorage(cluster.client, () => 0).history('default', 'shop');
  return stored.map(({ release: { revision, status } }) => `${revision} ${status}`);
}

describe('the life of a release', () => {
  test('install, upgrade, rollback, uninstall', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await shop();
    const { client } = cluster;

    const first = await done(cluster, installRelease(context, chart, { ...release, wait: true }));
    expect(first.notes).toBe('Say hello.');
    expect((await client.get(ConfigMap, config))?.data).toEqual({ greeting: 'hello', revision: '1' });
    const web = (await client.get(Deployment, { namespace: 'default', name: 'web' })) as KubeObject;
    expect(web.metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'Helm' });
    expect(
      web.metadata.managedFields?.some(({ manager, operation }) => manager === 'helm' && operation === 'Apply'),
    ).toBe(true);

    await done(cluster, upgradeRelease(context, chart, { ...release, values: { greeting: 'bye', extra: false } }));
    expect((await client.get(ConfigMap, config))?.data).toEqual({ greeting: 'bye', revision: '2' });
    expect(await client.get(ConfigMap, extra)).toBeUndefined();
    expect(await statuses(cluster)).toEqual(['1 superseded', '2 deployed']);

    const third = await done(cluster, rollbackRelease(context, release));
    expect(third.description).toBe('Rollback to 1');
    expect((await client.get(ConfigMap, config))?.data?.['greeting']).toBe('hello');
    expect(await client.get(ConfigMap, extra)).toBeDefined();
    expect(await statuses(cluster)).toEqual(['1 superseded', '2 superseded', '3 deployed']);

    await done(cluster, uninstallRelease(context, release));
    expect(await client.get(ConfigMap, config)).toBeUndefined();
    expect(await statuses(cluster)).toEqual([]);
  });

  test('hooks run by weight and then by name, whatever their kinds; one that fails takes those before it along, one that is refused does not', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const hook = (kind: string, name: string, weight: number, policy: string) =>
      `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n  annotations:\n    helm.sh/hook: pre-install\n    helm.sh/hook-weight: "${weight}"\n    helm.sh/hook-delete-policy: ${policy}\n`;
    const hooks = [
      hook('ConfigMap', 'last', 1, 'hook-failed'),
      hook('ConfigMap', 'b', 0, 'hook-failed'),
      hook('Secret', 'a', 0, 'hook-succeeded'),
      hook('ConfigMap', 'first', -1, 'hook-failed'),
    ];
    const install = async (name: string, documents: readonly string[], timeoutMs?: number): Promise<string[]> => {
      const ran: string[] = [];
      const chart = await loadFiles(
        Object.entries({ 'Chart.yaml': files['Chart.yaml'], 'templates/hooks.yaml': documents.join('---\n') }).map(
          ([path, text]) => ({ name: path, data: Buffer.from(text) }),
        ),
      );
      const progress: Exclude<typeof context.progress, undefined> = (event) => {
        if (event.type === 'hook') ran.push(event.object);
      };
      const work = installRelease({ ...context, progress }, chart, { name, namespace: 'default', timeoutMs });
      await done(cluster, work).catch((error: unknown) => ran.push(String((error as { code?: string }).code)));
      return ran;
    };
    const order = ['ConfigMap default/first', 'Secret default/a', 'ConfigMap default/b'];
    expect(await install('well', hooks)).toEqual([...order, 'ConfigMap default/last']);

    const secret = async () => await cluster.client.get(Secret, { namespace: 'default', name: 'a' });
    expect(await secret()).toBeUndefined();
    expect(await install('refused', [...hooks, hook('ConfigMap', '"Not A Name"', 1, 'hook-failed')])).toEqual([
      ...order,
      'HookFailed',
    ]);
    expect(await secret()).toBeDefined();

    const idle = 'spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n';
    const job = hook('Job', 'idle', 1, 'hook-failed').replace('v1', 'batch/v1') + idle;
    expect(await install('ill', [...hooks, job], 10_000)).toEqual([...order, 'Job default/idle', 'HookFailed']);
    expect(await secret()).toBeUndefined();
    expect(await cluster.client.get(Job, { namespace: 'default', name: 'idle' })).toBeUndefined();
  });

  test.skipIf(sharesKinds)('the definition of a kind that a hook brings is never deleted', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.release-life.example
  annotations: { helm.sh/hook: "pre-install,pre-upgrade" }
spec:
  group: release-life.example
  names: { kind: Thing, plural: things }
  scope: Namespaced
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
`;
    const chart = await loadFiles(
      Object.entries({ 'Chart.yaml': files['Chart.yaml'], 'templates/definition.yaml': definition }).map(
        ([name, text]) => ({ name, data: Buffer.from(text) }),
      ),
    );
    const uid = async () =>
      (await cluster.client.get(CustomResourceDefinition, { name: 'things.release-life.example' }))?.metadata.uid;
    await done(cluster, installRelease(context, chart, release));
    const before = await uid();
    await done(cluster, upgradeRelease(context, chart, release));
    expect(before).toBeDefined();
    expect(await uid()).toBe(before);
  });

  test('an object that asks to stay outlives its release', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    await done(cluster, installRelease(context, await shop(), { ...release, values: { keep: true } }));
    const removed = await done(cluster, uninstallRelease(context, release));
    expect(removed?.kept).toEqual(['ConfigMap default/shop-extra']);
    expect(await cluster.client.get(ConfigMap, extra)).toBeDefined();
  });

  test("an object of somebody else's is refused before anything is written", async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: config,
      data: { greeting: 'mine' },
    } as KubeObject);
    await expect(done(cluster, installRelease(context, await shop(), release))).rejects.toThrow(
      'ConfigMap default/shop-config exists and cannot be imported into release shop',
    );
    expect(await statuses(cluster)).toEqual([]);
    expect((await cluster.client.get(ConfigMap, config))?.data).toEqual({ greeting: 'mine' });
  });

  test('reuse-values keeps what was set before; reset-values forgets it', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await shop();
    await done(cluster, installRelease(context, chart, { ...release, values: { greeting: 'hi' } }));
    await done(cluster, upgradeRelease(context, chart, { ...release, values: { replicas: 2 }, valuesFrom: 'reuse' }));
    expect((await cluster.client.get(ConfigMap, config))?.data?.['greeting']).toBe('hi');
    await done(cluster, upgradeRelease(context, chart, { ...release, values: { replicas: 2 }, valuesFrom: 'reset' }));
    expect((await cluster.client.get(ConfigMap, config))?.data?.['greeting']).toBe('hello');
  });

  test('history is pruned to its limit and never loses what is deployed', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await shop();
    await done(cluster, installRelease(context, chart, release));
    for (const replicas of [1, 2, 3, 4]) {
      await done(cluster, upgradeRelease(context, chart, { ...release, values: { replicas }, historyMax: 3 }));
    }
    expect(await statuses(cluster)).toEqual(['3 superseded', '4 superseded', '5 deployed']);
  });

  test('a failed atomic upgrade goes back to what was there', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await shop();
    await done(cluster, installRelease(context, chart, release));
    const broken = await loadFiles(
      Object.entries({
        ...files,
        'templates/bad.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "Not A Name"\n',
      }).map(([name, text]) => ({ name, data: Buffer.from(text) })),
    );
    await expect(
      done(
        cluster,
        upgradeRelease(context, broken, { ...release, values: { greeting: 'broken' }, rollbackOnFailure: true }),
      ),
    ).rejects.toThrow(/release shop failed, and has been rolled back to revision 1/);
    expect((await cluster.client.get(ConfigMap, config))?.data?.['greeting']).toBe('hello');
    expect(await statuses(cluster)).toEqual(['1 superseded', '2 failed', '3 deployed']);
  });

  test('a revision somebody works on is not touched; one whose worker died counts as failed after ten minutes', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await shop();
    await done(cluster, installRelease(context, chart, release));
    const storage = new ReleaseStorage(cluster.client, () => cluster.clock.now());
    const stored = (await storage.history('default', 'shop'))[0]!.release;
    await storage.create({ ...stored, revision: 2, status: 'pending-upgrade' });
    await expect(done(cluster, upgradeRelease(context, chart, release))).rejects.toThrow(
      /another operation .* is in progress/,
    );
    const { clock } = cluster;
    const tenMinutesLater: Clock = {
      now: () => clock.now() + 601_000,
      monotonic: () => clock.monotonic() + 601_000,
      schedule: (delayMs, callback) => clock.schedule(delayMs, callback),
    };
    await done(cluster, upgradeRelease({ ...context, clock: tenMinutesLater }, chart, release));
    expect(await statuses(cluster)).toEqual(['1 superseded', '2 failed', '3 deployed']);
  });

  test('a record that does not fit is refused before an object is written', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await shop();
    const bulky = { ...chart, files: [{ name: 'noise.bin', data: randomish(2_000_000) }] };
    const attempt = done(cluster, installRelease(context, bulky, release));
    await expect(attempt).rejects.toThrow(/a Secret holds 1048576/);
    expect(await cluster.client.get(ConfigMap, config)).toBeUndefined();
    const secrets = await cluster.client.listPage(Secret, { namespace: 'default', labelSelector: 'owner=helm' });
    expect(secrets.items).toEqual([]);
  });
});

/** Bytes that do not compress. */
function randomish(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = 1;
  for (let index = 0; index < size; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
