import { ConfigMap } from '@slipway/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { argo } from '../src/argo/words.ts';
import { syncWorld, type SyncWorld, type TestApplication } from './sync-kit.ts';

const limit = 120_000;
let world: SyncWorld;
beforeAll(async () => (world = await syncWorld()), limit);
afterAll(async () => await world[Symbol.asyncDispose]());

const files = (value: string) => ({
  'app/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'app/values.yaml': 'value: chart\n',
  'app/templates/a.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {value: ${value}}\n`,
});
const fromValues = '{{ .Values.value }}';

async function edit(app: TestApplication): Promise<void> {
  const body = { data: { value: 'edited' } };
  await world.cluster.client.patch(ConfigMap, { namespace: app.name, name: 'a' }, { type: 'merge', body });
}

async function reconciled(app: TestApplication, kind: 'normal' | 'hard'): Promise<void> {
  await app.patch({ metadata: { annotations: { [argo.refresh]: kind } } });
  await world.cluster.eventually('it was looked at', async () => {
    await world.repositories.idle();
    return (await app.get())?.metadata.annotations?.[argo.refresh] === undefined;
  });
}

test(
  'a chart is rendered again when its files, its values or the cluster change, not when it is healed or looked at',
  { timeout: limit },
  async () => {
    const app = await world.app('rendered');
    const renders = () => world.rendered.charts.misses;
    await app.push(files(fromValues));
    await app.create();
    await app.settled();
    const once = renders();
    await edit(app);
    await world.cluster.eventually('the edit is taken back', async () => (await app.value('a')) === 'chart');
    await reconciled(app, 'normal');
    expect(renders()).toBe(once);

    // A commit of somebody else's files in the same repository.
    const elsewhere = await app.push({ ...files(fromValues), 'README.md': 'about the shop' });
    await app.until('it is at the new commit', ({ sync }) => sync?.revision === elsewhere);
    expect(renders()).toBe(once);

    await app.patch({ spec: { source: { helm: { values: 'value: application' } } } });
    await world.cluster.eventually('new values arrive', async () => (await app.value('a')) === 'application');
    expect(renders()).toBe(once + 1);
    await app.settled(await app.push(files('new')));
    expect(await app.value('a')).toBe('new');
    expect(renders()).toBe(once + 2);
  },
);

test(
  'a chart with a part of chance keeps what it made as long as its commit stays, until a hard refresh',
  { timeout: limit },
  async () => {
    const app = await world.app('chance');
    const commit = await app.push(files('{{ randAlphaNum 16 }}'));
    await app.create();
    await app.settled(commit);
    const first = await app.value('a');
    expect(first).toMatch(/^\w{16}$/);
    await edit(app);
    await world.cluster.eventually('the edit is taken back', async () => (await app.value('a')) === first);
    await reconciled(app, 'normal');
    expect((await app.status()).sync?.status).toBe('Synced');
    await reconciled(app, 'hard');
    await world.cluster.eventually('it is made anew', async () => {
      const value = await app.value('a');
      return value !== first && value !== 'edited';
    });
  },
);

test('a chart whose subchart is missing is refused: nothing of it is taken for gone', { timeout: limit }, async () => {
  const app = await world.app('incomplete');
  await app.push(files(fromValues));
  await app.create();
  await app.settled();
  const dependency = 'dependencies: [{name: database, version: 1.0.0, repository: https://charts.example.com}]\n';
  const { 'app/Chart.yaml': chart } = files(fromValues);
  await app.push({ 'app/Chart.yaml': `${chart}${dependency}` });
  const { conditions } = await app.until('it says so', ({ sync }) => sync?.status === 'Unknown');
  expect(conditions).toMatchObject([{ type: 'ComparisonError', message: expect.stringContaining('database') }]);
  expect(await app.value('a')).toBe('chart');
});

test(
  'sources: values come from another source by its ref, whose commits count too; a ref that nobody has is named',
  { timeout: limit },
  async () => {
    const [app, other] = [await world.app('referring'), await world.app('referred')];
    await app.push(files(fromValues));
    const values = await other.push({ 'env/prod.yaml': 'value: first\n', 'app/a.yaml': 'not: read' });
    const source = (valueFiles: readonly string[]) => ({
      repoURL: app.url,
      path: 'app',
      helm: { valueFiles, ignoreMissingValueFiles: true },
    });
    const spec = (file: string) => ({
      source: undefined,
      sources: [source(['$mine/env/missing.yaml', file]), { repoURL: other.url, ref: 'mine' }],
    });
    await app.create(spec('$mine/env/prod.yaml'));
    const status = await app.settled();
    expect(status).toMatchObject({ sourceTypes: ['Helm', ''], sync: { status: 'Synced' } });
    expect(status.sync?.revisions?.[1]).toBe(values);
    expect(status.resources).toHaveLength(1);
    expect(await app.value('a')).toBe('first');

    await other.push({ 'env/prod.yaml': 'value: second\n' });
    await world.cluster.eventually('new values arrive', async () => (await app.value('a')) === 'second');

    for (const [file, text] of [
      ['$yours/env/prod.yaml', "'$yours/env/prod.yaml': no source has this ref"],
      ['$mine/../..', 'leads out of the repository'],
    ] as const) {
      await app.patch({ spec: spec(file) });
      const { conditions } = await app.until(`${file} is refused`, ({ conditions: now }) =>
        now?.[0]?.message.includes(text),
      );
      expect(conditions).toMatchObject([{ type: 'InvalidSpecError' }]);
    }
    expect(await app.value('a')).toBe('second');
  },
);
