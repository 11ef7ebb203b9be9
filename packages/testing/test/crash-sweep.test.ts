import { ConfigMap, Secret } from '@slipway/kube';
import { controller, type Reconcile } from '@slipway/runtime';
import { expect, test } from 'vitest';

import { onReference, skipped, snapshotCluster, sweepCrashes, testCluster, type Scenario } from '../src/index.ts';

const labels = { sweep: 'yes' };
const key = { namespace: 'default', name: 'plan' };

/** One ConfigMap in, one Secret out. */
function scenario(reconcile: Reconcile): Scenario {
  return {
    name: 'copying',
    cluster: () => testCluster(),
    controllers: () => [
      controller({ name: 'copy', for: ConfigMap, scope: { labelSelector: labels }, owns: [Secret], reconcile }),
    ],
    steps: [
      {
        name: 'a plan is copied',
        run: async ({ client }) => {
          await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, labels }, data: {} });
        },
        settled: async ({ client }) =>
          (await client.get(Secret, key)) !== undefined &&
          (await client.get(ConfigMap, key))?.metadata.annotations?.['copied'] === 'yes',
      },
    ],
    snapshot: ({ client }) => snapshotCluster(client),
  };
}

const secretOf = (count: string) => ({
  apiVersion: 'v1' as const,
  kind: 'Secret' as const,
  metadata: { ...key, annotations: { count } },
});
const annotate: Reconcile = async ({ client }) => {
  const annotations = { copied: 'yes' };
  await client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { annotations } } });
};

const copying: Reconcile = async (context, { name }) => {
  if (name !== key.name) return;
  await context.client.apply(secretOf('1'));
  await annotate(context, { ...key });
};

test('a reconciler that can start again anywhere passes, with every write tried twice', async () => {
  const result = await sweepCrashes(scenario(copying));
  expect(result.points).toBe(2 * result.requests);
  expect(result.requests).toBeGreaterThanOrEqual(2);
});

test('a sweep that begins at a later write leaves out those before it', async () => {
  const { killedAt } = await sweepCrashes(scenario(copying), { first: 1, phases: ['after'] });
  expect(killedAt[0]).toMatch(/^PATCH .*\/configmaps\//);
});

test('the error of a failing sweep names the request and has the log lines of the operator', async () => {
  const counting: Reconcile = async (context, { name }) => {
    if (name !== key.name) return;
    const plan = await context.client.get(ConfigMap, key);
    if (plan?.metadata.annotations?.['copied']) return;
    // Counts its attempts: what a crash makes it do twice shows.
    const before = Number((await context.client.get(Secret, key))?.metadata.annotations?.['count'] ?? '0');
    context.log.info('copying', { before });
    await context.client.apply(secretOf(String(before + 1)));
    await annotate(context, { ...key });
  };
  await expect(sweepCrashes(scenario(counting))).rejects.toThrow(
    /copying: killed after PATCH \S+secrets\/plan\S* \(request 0\), the end differs: .*"1" became "2"\n\nwhat the operator logged.*:\n[^]*INFO {2}copying .*before=1/,
  );
});

const onRealTime = skipped(
  onReference,
  'on the real API server: a story that never settles, which takes virtual hours',
);
test.skipIf(onRealTime)('a story that does not settle says so, with the log lines of the operator', async () => {
  const stuck: Reconcile = ({ log }) => log.warn('I cannot go on', { because: 'nobody helps' });
  await expect(sweepCrashes(scenario(stuck))).rejects.toThrow(
    /copying, undisturbed: waited in vain: a plan is copied[^]*WARN {2}I cannot go on .*because="nobody helps"/,
  );
});
