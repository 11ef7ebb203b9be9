import { ConfigMap, createClient, type KubeObject } from '@slipway/kube';
import { KillableTransport, onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import {
  type Chart,
  installRelease,
  loadFiles,
  ReleaseStorage,
  rollbackRelease,
  upgradeRelease,
} from '../src/index.ts';

const files = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'values.yaml': 'greeting: hello\nextra: true\n',
  'templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  greeting: {{ .Values.greeting | quote }}\n',
  'templates/extra.yaml':
    '{{ if .Values.extra }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n{{ end }}\n',
  'templates/hook.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n  annotations:\n    helm.sh/hook: pre-install,pre-upgrade,post-rollback\n',
};
const release = { name: 'shop', namespace: 'default' };

const shop = async (): Promise<Chart> =>
  await loadFiles(Object.entries(files).map(([name, text]) => ({ name, data: Buffer.from(text) })));

async function done<T>(cluster: TestCluster, work: Promise<T>): Promise<T> {
  let outcome: PromiseSettledResult<T> | undefined;
  void Promise.allSettled([work]).then(([settled]) => (outcome = settled));
  const settled = await cluster.eventually('it is done', () => outcome);
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** What is on the cluster in the end: the objects, and the one revision that is deployed. */
async function end(cluster: TestCluster): Promise<unknown> {
  const objects: [string, unknown][] = [];
  for await (const each of cluster.client.list(ConfigMap, { namespace: 'default' })) {
    if (each.metadata.name !== 'kube-root-ca.crt') objects.push([each.metadata.name!, (each as KubeObject)['data']]);
  }
  const stored = await new ReleaseStorage(cluster.client, () => 0).history('default', 'shop');
  const statuses = stored.map(({ release: { status } }) => status);
  return { objects, deployed: statuses.filter((status) => status === 'deployed').length, last: statuses.at(-1) };
}

type Work = (context: Parameters<typeof installRelease>[0], chart: Chart) => Promise<unknown>;

const works: readonly [string, Work | undefined, Work][] = [
  ['install', undefined, async (context, chart) => await upgradeRelease(context, chart, { ...release, install: true })],
  [
    'upgrade',
    async (context, chart) => await installRelease(context, chart, release),
    async (context, chart) =>
      await upgradeRelease(context, chart, { ...release, values: { greeting: 'bye', extra: false } }),
  ],
  [
    'rollback',
    async (context, chart) => {
      await installRelease(context, chart, release);
      await upgradeRelease(context, chart, { ...release, values: { greeting: 'bye', extra: false } });
    },
    async (context) => await rollbackRelease(context, { ...release, revision: 1 }),
  ],
];

describe.skipIf(
  skipped(onReference, 'releases whose process dies at any write: ten minutes have to pass, which need virtual time'),
)('a process that dies at any write', () => {
  test.each(works)('leaves no release stuck in its %s: the next run ends it', async (_name, before, work) => {
    const chart = await shop();
    const run = async (killAt: number, phase: 'before' | 'after'): Promise<{ end: unknown; died: boolean }> => {
      await using cluster = await testCluster();
      const context = { client: cluster.client, clock: cluster.clock };
      if (before) await done(cluster, before(context, chart));
      let writes = 0;
      let died = false;
      const transport = new KillableTransport(
        cluster.transport(),
        (request, at) => {
          if (request.method === 'GET') return false;
          const index = writes;
          if (at === 'after') writes += 1;
          if (died || at !== phase || index !== killAt) return false;
          died = true;
          return true;
        },
        () => undefined,
      );
      const client = createClient({ transport, fieldManager: 'helm', clock: cluster.clock });
      const dying = work({ client, clock: cluster.clock }, chart);
      let ended = false;
      dying.then(
        () => (ended = true),
        () => undefined,
      );
      if (killAt < 0) await done(cluster, dying);
      else {
        await cluster.eventually('it dies or ends', () => died || ended);
        // Its revision shows no sign of life for longer than anybody waits.
        if (died) {
          await cluster.advance(660_000);
          await done(cluster, work(context, chart));
        }
      }
      return { end: await end(cluster), died };
    };
    const calm = await run(-1, 'before');
    let points = 0;
    for (let index = 0; ; index += 1) {
      const outcomes = [await run(index, 'before'), await run(index, 'after')];
      if (!outcomes.some(({ died }) => died)) break;
      for (const outcome of outcomes) expect(outcome.end).toEqual(calm.end);
      points += outcomes.length;
    }
    expect(points).toBeGreaterThan(5);
  });
});
