import { ConfigMap, isConflict, Secret } from '@slipway/kube';
import { controller, type ReconcileContext } from '@slipway/runtime';
import { describe, expect, test } from 'vitest';

import { onReference, skipped, snapshotCluster, sweepFaults, testCluster, type Scenario } from '../src/index.ts';

const labels = { sweep: 'faults' };
const plan = { namespace: 'default', name: 'plan' };
const copyOf = (name: string) =>
  ({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default', name } }) as const;

/** A plan is copied, and says so. */
function scenario(copy: (context: ReconcileContext, seen: ConfigMap) => Promise<void>): Scenario {
  const copying = controller({
    name: 'copying',
    for: ConfigMap,
    scope: { labelSelector: labels },
    async reconcile(context, key) {
      const seen = await context.client.get(ConfigMap, key);
      if (!seen || seen.metadata.annotations?.['copied']) return;
      await copy(context, seen);
      const annotations = { copied: 'yes' };
      await context.client.patch(ConfigMap, plan, { type: 'merge', body: { metadata: { annotations } } });
    },
  });
  return {
    name: 'copying',
    cluster: () => testCluster(),
    controllers: () => [copying],
    steps: [
      {
        name: 'a plan is copied',
        run: async ({ client }) => {
          await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...plan, labels } });
        },
        settled: async ({ client }) => (await client.get(ConfigMap, plan))?.metadata.annotations?.['copied'] === 'yes',
      },
    ],
    snapshot: ({ client }) => snapshotCluster(client),
  };
}

const onRealTime = skipped(onReference, 'on the real API server: the fault sweep on itself, which needs virtual time');

describe.skipIf(onRealTime)('a fault sweep', () => {
  test('finds nothing in a reconciler without a bug: every write refused and every answer lost once, watches late and broken', async () => {
    const result = await sweepFaults(scenario(async ({ client }) => void (await client.apply(copyOf('copy')))));
    expect(result).toEqual({ scenario: 'copying', requests: 2, points: 2 * 2 + 3 });
  });

  test.each<[string, Parameters<typeof scenario>[0], RegExp]>([
    [
      'a conflict that is taken for done',
      async ({ client }) => {
        await client.apply(copyOf('copy')).catch((error: unknown) => {
          if (!isConflict(error)) throw error;
        });
      },
      /write 0 refused as a conflict, the end differs: \.secrets\/default\/copy/,
    ],
    [
      'a lost answer that is taken for nothing done',
      async ({ client }) => {
        const copies = await Array.fromAsync(client.list(Secret, { namespace: 'default' }));
        await client.create(copyOf(`copy-${copies.length}`));
      },
      /answer to write 0 lost, the end differs: \.secrets\/default\/copy-1/,
    ],
    [
      'a deadline that begins before the event has come',
      async ({ client, clock }, { metadata }) => {
        const ageMs = clock.now() - Date.parse(metadata.creationTimestamp!);
        await client.apply(copyOf(ageMs < 3000 ? 'copy' : 'excuse'));
      },
      /watches 5000 ms late, the end differs: \.secrets\/default\/(copy|excuse)/,
    ],
  ])('finds the planted bug: %s', async (_bug, copy, finding) => {
    await expect(sweepFaults(scenario(copy))).rejects.toThrow(finding);
  });
});
