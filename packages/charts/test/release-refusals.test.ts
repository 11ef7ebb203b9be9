import { gzipSync } from 'node:zlib';
import { ConfigMap, createClient, type KubeObject, Namespace, Secret, type TransportRequest } from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import {
  type Chart,
  diffUpgrade,
  installRelease,
  loadFiles,
  ReleaseStorage,
  rollbackRelease,
  uninstallRelease,
  upgradeRelease,
} from '../src/index.ts';
import { encodeRecord } from '../src/release/record.ts';

const release = { name: 'shop', namespace: 'default' };
const at = (name: string) => ({ namespace: 'default', name });

async function chartOf(template: string, more: Readonly<Record<string, string>> = {}): Promise<Chart> {
  const files = {
    'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
    'templates/all.yaml': template,
    ...more,
  };
  return await loadFiles(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })));
}

const plain = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "y"}\n';

async function started() {
  const cluster = await testCluster({ controllers: 'core' });
  return { cluster, context: { client: cluster.client, clock: cluster.clock } };
}

async function done<T>(cluster: TestCluster, work: Promise<T>): Promise<T> {
  let outcome: PromiseSettledResult<T> | undefined;
  void Promise.allSettled([work]).then(([settled]) => (outcome = settled));
  const settled = await cluster.eventually('it is done', () => outcome);
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** What the server answers instead, once for each that is given, to requests that are `hit`. */
type Answer = 'lost' | { readonly code: number; readonly message: string; readonly reason?: string };

function faulty(cluster: TestCluster, isHit: (request: TransportRequest) => boolean, answers: readonly Answer[]) {
  const inner = cluster.transport();
  const left = [...answers];
  const client = createClient({
    transport: {
      send: async (request, signal) => {
        const answer = isHit(request) ? left.shift() : undefined;
        if (answer === undefined) return await inner.send(request, signal);
        if (answer === 'lost') {
          await inner.send(request, signal);
          throw Object.assign(new Error('the answer got lost'), { code: 'ECONNRESET' });
        }
        const body = Buffer.from(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...answer }));
        return { status: answer.code, headers: { 'content-type': 'application/json' }, body };
      },
      open: (request, handler) => inner.open(request, handler),
      close: async () => await inner.close(),
    },
    fieldManager: 'helm',
    clock: cluster.clock,
  });
  return { context: { client, clock: cluster.clock }, left };
}

const writesConfig = ({ method, path }: TransportRequest): boolean =>
  method === 'PATCH' && path.includes('/configmaps/');

describe('what is no object is refused before anything is written, and said by name', () => {
  test.each([
    ['apiVersion: v1\nmetadata: {name: x}\n', 'the object x of the chart has no kind'],
    ['apiVersion: v1\nkind: 5\nmetadata: {name: x}\n', 'the object x of the chart has no kind'],
    ['kind: ConfigMap\nmetadata: {name: x}\n', 'the object x of the chart has no apiVersion'],
    [
      'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, metadata: {name: x}}]\n',
      'the object x of the chart has no kind',
    ],
    ['apiVersion: v1\nkind: List\nitems: [text]\n', 'an object of the chart has no apiVersion'],
    ['apiVersion: v1\nkind: List\nitems: [null]\n', 'an object of the chart has no apiVersion'],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}\n',
      'an object of the chart has a metadata.name that is no text',
    ],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: 5}\n',
      'the object x of the chart has a metadata.namespace that is no text',
    ],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: [a]}\n',
      'the object x of the chart has metadata.labels that are no map',
    ],
  ])('%j', async (template, message) => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf(`${plain}---\n${template}`);
    await expect(done(cluster, installRelease(context, chart, release))).rejects.toMatchObject({
      name: 'ReleaseError',
      message,
    });
    expect(await cluster.client.get(ConfigMap, at('a'))).toBeUndefined();
  });

  test('what a list says of its objects they need not say again', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const chart = await chartOf('apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}]\n');
    await done(cluster, installRelease(context, chart, release));
    expect(await cluster.client.get(ConfigMap, at('a'))).toBeDefined();
  });
});

test('a file under crds/ that is no YAML is named, and nothing is written', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const chart = await chartOf(plain, { 'crds/kinds.yaml': 'kind: A\n b: c\n' });
  await expect(done(cluster, installRelease(context, chart, release))).rejects.toMatchObject({
    code: 'Refused',
    message: expect.stringMatching(/^shop\/crds\/kinds\.yaml cannot be read: yaml: line 2/) as string,
  });
  expect(await new ReleaseStorage(cluster.client, () => 0).history('default', 'shop')).toEqual([]);
});

test('templates that fail when something is not there are rendered when it is, however often they ask', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const names = Array.from({ length: 15 }, (_, index) => `word-${index}`);
  const guards = names.map(
    (name) =>
      `{{ if not (lookup "v1" "Secret" "default" "${name}") }}{{ fail "make the Secret ${name} first" }}{{ end }}\n`,
  );
  const chart = await chartOf(
    `${guards.join('')}${plain.replace('"y"', '{{ (lookup "v1" "Secret" "default" "word-0").data.a | b64dec | len | quote }}')}`,
  );
  const missing = installRelease(context, chart, release);
  await expect(done(cluster, missing)).rejects.toThrow('make the Secret word-0 first');
  for (const name of names)
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: at(name),
      data: { a: 'YWJj' },
    } as KubeObject);
  await done(cluster, installRelease(context, chart, release));
  expect((await cluster.client.get(ConfigMap, at('a')))?.data).toEqual({ x: '3' });
});

test('lookup of an object of a namespace finds nothing when it names no namespace', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const chart = await chartOf(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {found: {{ lookup "v1" "Secret" "" "other" | toJson | quote }}}\n',
  );
  await done(cluster, installRelease(context, chart, release));
  expect((await cluster.client.get(ConfigMap, at('a')))?.data).toEqual({ found: '{}' });
});

test('a namespace that is not there is named, with what to do', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const missing = installRelease(context, await chartOf(plain), { ...release, namespace: 'nowhere' });
  await expect(done(cluster, missing)).rejects.toMatchObject({
    message: 'release shop: there is no namespace nowhere',
    hint: expect.stringContaining('--create-namespace') as string,
  });
  const elsewhere = await chartOf('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}\n');
  await expect(done(cluster, installRelease(context, elsewhere, release))).rejects.toMatchObject({
    message: expect.stringContaining('ConfigMap nowhere/a') as string,
    hint: expect.stringContaining('make its namespace first') as string,
  });
});

test('a namespace that is being deleted is named', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const finalizers = ['example.com/stays'];
  await cluster.client.create({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'refusals-going' },
  });
  await cluster.client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'stays', namespace: 'refusals-going', finalizers },
  });
  await cluster.client.delete(Namespace, { name: 'refusals-going' });
  const going = installRelease(context, await chartOf(plain), { ...release, namespace: 'refusals-going' });
  await expect(done(cluster, going)).rejects.toThrow('release shop: the namespace refusals-going is being deleted');
  const stays = { namespace: 'refusals-going', name: 'stays' };
  await cluster.client.patch(ConfigMap, stays, { type: 'merge', body: { metadata: { finalizers: null } } });
});

test('a field of a Secret that somebody else wrote is named with its manager, and without its value', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const chart = async (word: string) =>
    await chartOf(`apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {word: ${word}}\n`);
  await done(cluster, installRelease(context, await chart('hunter1'), release));
  await cluster.client.apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: at('s'), stringData: { word: 'hunter2' } } as KubeObject,
    { fieldManager: 'somebody', force: true },
  );
  const failed = await done(cluster, upgradeRelease(context, await chart('hunter3'), release)).catch(String);
  expect(failed).toContain('Secret default/s');
  expect(failed).toContain('conflict with "somebody"');
  expect(failed).not.toContain('hunter');
  const [, last] = await new ReleaseStorage(cluster.client, () => 0).history('default', 'shop');
  expect(last?.release.description).not.toContain('hunter');
});

test('Secrets in a list are hidden in what an upgrade would change, and two lists are two', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const lists = (word: string): string =>
    ['List', 'SecretList']
      .map((kind, index) => {
        const own = kind === 'List' ? 'apiVersion: v1, kind: Secret, ' : '';
        return `---\napiVersion: v1\nkind: ${kind}\nitems: [{${own}metadata: {name: s${index}}, stringData: {word: ${word}}}]\n`;
      })
      .join('');
  await done(cluster, installRelease(context, await chartOf(lists('hunter1')), release));
  const { objects } = await done(cluster, diffUpgrade(context, await chartOf(lists('hunter2')), release));
  expect(objects.map(({ object, change }) => `${object} ${change}`).sort()).toEqual([
    'Secret default/s0 (v1) changed',
    'Secret default/s1 (v1) changed',
  ]);
  expect(JSON.stringify(objects)).not.toContain('hunter');
});

test('a hook that is refused or takes too long says what to do', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const hook = (rest: string) =>
    `apiVersion: batch/v1\nkind: Job\nmetadata: {name: idle, annotations: {helm.sh/hook: pre-install}}\nspec: {suspend: true, template: {spec: ${rest}}}\n`;
  const idle = await chartOf(hook('{restartPolicy: Never, containers: [{name: a, image: a}]}'));
  const slow = installRelease(context, idle, { ...release, timeoutMs: 5_000 });
  await expect(done(cluster, slow)).rejects.toMatchObject({
    message: 'a hook failed: Job default/idle: it has not completed',
    hint: expect.stringContaining('--timeout') as string,
  });
  const wrong = await chartOf(hook('{restartPolicy: Always, containers: [{name: a, image: a}]}'));
  await expect(done(cluster, installRelease(context, wrong, { ...release, name: 'other' }))).rejects.toMatchObject({
    message: expect.stringContaining('a hook failed: Job default/idle: ') as string,
    hint: 'the chart or its values have to be corrected',
  });
});

test('an upgrade, a rollback and an uninstallation name the revision whose version of a kind the server dropped', async () => {
  const { cluster, context } = await started();
  await using _cluster = cluster;
  const { client } = cluster;
  await done(cluster, installRelease(context, await chartOf(plain), release));
  const [stored] = await new ReleaseStorage(client, () => 0).history('default', 'shop');
  const manifest = '---\napiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: old}\n';
  await new ReleaseStorage(client, () => 0).update({ ...stored!.release, manifest });
  const named = {
    code: 'Refused',
    message: 'revision 1: the cluster does not know PodSecurityPolicy of policy/v1beta1',
    hint: expect.stringContaining('rewrite the record') as string,
  };
  await expect(done(cluster, upgradeRelease(context, await chartOf(plain), release))).rejects.toMatchObject(named);
  await expect(done(cluster, rollbackRelease(context, { ...release, revision: 1 }))).rejects.toMatchObject(named);
  expect(await new ReleaseStorage(client, () => 0).history('default', 'shop')).toHaveLength(1);
  await expect(done(cluster, uninstallRelease(context, release))).rejects.toMatchObject(named);
});

describe('records', () => {
  const damaged = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: { ...at('sh.helm.release.v1.bad.v1'), labels: { owner: 'helm', name: 'bad', status: 'deployed' } },
  } as KubeObject;
  const dataOf = (text: string) => ({ release: Buffer.from(text).toString('base64') });
  const recordText = (fields: object) =>
    Buffer.from(JSON.stringify({ name: 'bad', version: 1, ...fields })).toString('base64');

  test.each([
    ['rubbish', 'H4sIrubbish'],
    ['hooks of another shape', recordText({ hooks: 5 })],
    ['values that are no map', recordText({ config: 5 })],
    ['a number for the status', recordText({ info: { status: 5 } })],
    ['events that are no list', recordText({ hooks: [{ name: 'a', events: 5 }] })],
    ['nothing for a revision', recordText({ version: null })],
    ['half a revision', recordText({ version: 1.5 })],
    ['far more than it seems', gzipSync(Buffer.alloc(65 * 1024 * 1024)).toString('base64')],
  ])('that cannot be read, as %s, are named, and stand in the way of no other release', async (_, text) => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    await done(cluster, installRelease(context, await chartOf(plain), release));
    await cluster.client.create({ ...damaged, data: dataOf(text) } as KubeObject);
    const named = 'the record of a release in the Secret default/sh.helm.release.v1.bad.v1 cannot be read';
    const upgrade = upgradeRelease(context, await chartOf(plain), { ...release, name: 'bad' });
    await expect(done(cluster, upgrade)).rejects.toMatchObject({ code: 'Damaged', message: named });
    const told: string[] = [];
    const all = await new ReleaseStorage(cluster.client, () => 0).all('default', ({ message }) => told.push(message));
    expect(all.map((stored) => stored.release.name)).toEqual(['shop']);
    expect(told).toEqual([named]);
  });

  test('of another release under the name of one are named, and that release is not touched', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    await done(cluster, installRelease(context, await chartOf(plain), release));
    const { data } = (await cluster.client.get(Secret, at('sh.helm.release.v1.shop.v1')))!;
    await cluster.client.create({ ...damaged, data } as KubeObject);
    await expect(done(cluster, uninstallRelease(context, { ...release, name: 'bad' }))).rejects.toMatchObject({
      code: 'Damaged',
      message: 'the Secret default/sh.helm.release.v1.bad.v1 holds the record of revision 1 of release shop',
    });
    expect(await new ReleaseStorage(cluster.client, () => 0).history('default', 'shop')).toHaveLength(1);
  });

  test('that were copied to another namespace belong there: the original keeps its records and objects', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    await done(cluster, installRelease(context, await chartOf(plain), release));
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'copied' } } as KubeObject);
    const copied = { ...release, namespace: 'copied' };
    const record = (await cluster.client.get(Secret, at('sh.helm.release.v1.shop.v1'))) as KubeObject;
    const { name, labels } = record.metadata;
    await cluster.client.create({ ...record, metadata: { name: name!, labels, namespace: 'copied' } } as KubeObject);

    await done(cluster, upgradeRelease(context, await chartOf(plain), copied));
    const storage = new ReleaseStorage(cluster.client, () => 0);
    const revisions = async (namespace: string) =>
      (await storage.history(namespace, 'shop')).map(({ release: { revision, status } }) => `${revision} ${status}`);
    expect(await revisions('copied')).toEqual(['1 superseded', '2 deployed']);
    expect(await revisions('default')).toEqual(['1 deployed']);
    await done(cluster, uninstallRelease(context, copied));
    expect(await cluster.client.get(ConfigMap, { namespace: 'copied', name: 'a' })).toBeUndefined();
    expect(await revisions('copied')).toEqual([]);
    expect(await revisions('default')).toEqual(['1 deployed']);
    expect(await cluster.client.get(ConfigMap, at('a'))).toBeDefined();
  });

  test('that would not fit once the work is done are refused before it begins', async () => {
    const { cluster, context } = await started();
    await using _cluster = cluster;
    const { chart, ...small } = await done(cluster, installRelease(context, await chartOf(plain), release));
    const nearly = 1_048_576 - 500;
    let bulky = { ...small, name: 'bulky', chart };
    for (
      let size = 700_000, length = 0;
      Math.abs(nearly - length) > 100;
      size += Math.trunc((nearly - length) * 0.75)
    ) {
      bulky = { ...bulky, chart: { ...chart, files: [{ name: 'a', data: noise(size).toString('base64') }] } };
      length = encodeRecord(bulky).length;
    }
    const storage = new ReleaseStorage(cluster.client, () => 0);
    await expect(storage.create({ ...bulky, status: 'pending-install' })).rejects.toMatchObject({ code: 'TooLarge' });
    expect(await storage.history('default', 'bulky')).toEqual([]);
    // One of Helm's may be as large.
    await storage.create({ ...small, name: 'bulky', chart });
    expect(await storage.update(bulky)).toBe(true);
  });
});

describe.skipIf(skipped(onReference, 'servers that fail at a chosen moment: needs virtual time'))(
  'a server that is away for a moment',
  () => {
    const busy = { code: 503, reason: 'ServiceUnavailable', message: 'the server is starting' };

    test.each([
      ['fails', busy],
      ['loses its answer', 'lost'],
      ['counts a quota', { code: 409, reason: 'Conflict', message: 'Operation cannot be fulfilled on resourcequotas' }],
    ] as const)('fails no upgrade when it %s as an object is written', async (_, answer) => {
      const { cluster } = await started();
      await using _cluster = cluster;
      const { context, left } = faulty(cluster, writesConfig, [answer, answer]);
      const installed = await done(cluster, installRelease(context, await chartOf(plain), release));
      expect(left).toEqual([]);
      expect(installed.status).toBe('deployed');
    });

    test('is not said to be the fault of the chart when it stays away', async () => {
      const { cluster } = await started();
      await using _cluster = cluster;
      const { context } = faulty(cluster, writesConfig, [busy, busy, busy, busy]);
      await expect(done(cluster, installRelease(context, await chartOf(plain), release))).rejects.toMatchObject({
        message: 'ConfigMap default/a: the server is starting',
        hint: expect.stringContaining('try again') as string,
      });
    });

    test('is not asked again about a field it cannot make sense of', async () => {
      const { cluster } = await started();
      await using _cluster = cluster;
      const writes: string[] = [];
      const { context } = faulty(cluster, (request) => writesConfig(request) && writes.push(request.path) < 0, []);
      const chart = await chartOf(plain.replace('"y"', '{a: b}'));
      await expect(done(cluster, installRelease(context, chart, release))).rejects.toMatchObject({
        hint: 'the chart or its values have to be corrected',
      });
      expect(writes).toHaveLength(1);
    });

    test('does not lock a release of which it lost the answer about its record', async () => {
      const { cluster } = await started();
      await using _cluster = cluster;
      const { context } = faulty(cluster, ({ method }) => method === 'POST', ['lost']);
      const installed = await done(cluster, installRelease(context, await chartOf(plain), release));
      expect(installed.status).toBe('deployed');
    });

    test('leaves the fields of a release of Helm 3 to be moved, also while a controller writes the object', async () => {
      const { cluster, context } = await started();
      await using _cluster = cluster;
      const twoFields = await chartOf(plain.replace('{x: "y"}', '{x: "y", gone: soon}'));
      const first = await done(cluster, installRelease(context, twoFields, release));
      // As Helm 3 would have written it.
      const { metadata } = (await cluster.client.get(ConfigMap, at('a')))!;
      const managedFields = metadata.managedFields!.map((field) => ({ ...field, operation: 'Update' }));
      await cluster.client.patch(ConfigMap, at('a'), {
        type: 'json',
        operations: [{ op: 'replace', path: '/metadata/managedFields', value: managedFields }],
      });
      await new ReleaseStorage(cluster.client, () => 0).update({ ...first, applyMethod: 'csa' });
      let touches = 0;
      const busyClient = createClient({
        transport: {
          send: async (request, signal) => {
            if (writesConfig(request) && String(request.body).includes('managedFields') && touches < 2) {
              touches += 1;
              const body = { metadata: { annotations: { touched: String(touches) } } };
              await cluster.client.patch(ConfigMap, at('a'), { type: 'merge', body });
            }
            return await cluster.transport().send(request, signal);
          },
          open: (request, handler) => cluster.transport().open(request, handler),
          close: async () => undefined,
        },
        fieldManager: 'helm',
        clock: cluster.clock,
      });
      await done(cluster, upgradeRelease({ ...context, client: busyClient }, await chartOf(plain), release));
      expect(touches).toBe(2);
      expect((await cluster.client.get(ConfigMap, at('a')))?.data).toEqual({ x: 'y' });
    });
  },
);

test('Secrets of others with the label of Helm are no releases', async () => {
  const { cluster } = await started();
  await using _cluster = cluster;
  const labels = { owner: 'helm', name: 'other' };
  await cluster.client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { ...at('other'), labels } } as KubeObject);
  const all = await new ReleaseStorage(cluster.client, () => 0).all('default', (error) => {
    throw error;
  });
  expect(all).toEqual([]);
  await cluster.client.delete(Secret, at('other'));
});

/** Bytes that do not compress. */
function noise(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = 1;
  for (let index = 0; index < size; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
