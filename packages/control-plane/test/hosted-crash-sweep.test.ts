import { setTimeout as wait } from 'node:timers/promises';
import { onReference, type Scenario, skipped, snapshotCluster, sweepCrashes, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { APIServer } from '../src/api/components.ts';
import { apiServer, hostCluster, hostedController, key, place, StandIn, version, whenIs } from './hosted-kit.ts';

const leftOut = skipped(
  onReference || process.env['SLIPWAY_SWEEP'] !== 'full',
  'hosted control planes whose operator dies at every write: minutes on the embedded server (npm run test:sweep)',
);

/** Keys take real time to make: virtual time must not be over before. */
async function isSettled(cluster: TestCluster, wanted: string): Promise<boolean> {
  await wait(2);
  return await whenIs(cluster, wanted);
}

/** Certificates, keys and what is made from them differ from run to run; that they fit together is what `whenReady` asks. */
async function snapshot({ client }: TestCluster): Promise<unknown> {
  const found = await snapshotCluster(client);
  const text = JSON.stringify(found, (name, value: unknown) => {
    if (made.has(name)) return '<made>';
    if (name === 'finalizers') return (value as string[]).toSorted();
    return value;
  });
  // Pods and ReplicaSets have random names and come as often as they are needed.
  const lasting = Object.entries(JSON.parse(text) as Record<string, unknown>).filter(
    ([id]) => !/^(pods|replicasets\.apps|controllerrevisions\.apps|endpointslices\.|events|persistentvolumes)/.test(id),
  );
  return lasting.map(([id, value]) => [id, withoutStatus(id, value)]);
}

const made = new Set(['data', 'openmcp.cloud/read-at-start', 'clusterIP', 'clusterIPs']);

/** How far a roll-out is counted says how often it was disturbed. */
function withoutStatus(id: string, value: unknown): unknown {
  const { status, ...rest } = value as { status?: unknown };
  return id.startsWith('apiservers.') ? { ...rest, status } : rest;
}

test.skipIf(leftOut)(
  'an operator that dies at any write of a hosted control plane comes to the same end',
  { timeout: 900_000 },
  async () => {
    await using standIn = await StandIn.start();
    let wanted = version;
    const change = async (cluster: TestCluster, to: string): Promise<void> => {
      wanted = to;
      const body = { spec: { internal: { gardener: { k8sVersionOverwrite: to } } } };
      await cluster.client.patch(APIServer, key, { type: 'merge', body });
    };
    const life: Scenario = {
      name: 'a hosted control plane',
      cluster: hostCluster,
      controllers: () => [hostedController(standIn.connect)],
      steps: [
        {
          name: 'create',
          async run({ client }) {
            wanted = version;
            await client.create(apiServer());
          },
          settled: (cluster) => isSettled(cluster, wanted),
        },
        {
          name: 'upgrade',
          run: (cluster) => change(cluster, '1.37.0'),
          settled: (cluster) => isSettled(cluster, wanted),
        },
      ],
      snapshot,
    };
    const remove: Scenario = {
      ...life,
      name: 'its removal',
      steps: [
        life.steps[0]!,
        {
          name: 'delete',
          run: async ({ client }) => void (await client.delete(APIServer, key)),
          settled: async ({ client }) =>
            (await client.get(APIServer, key)) === undefined &&
            !Object.keys(await snapshotCluster(client)).some((id) => id.includes(place)),
        },
      ],
    };
    for (const scenario of [life, remove]) {
      const { points, requests } = await sweepCrashes(scenario);
      // oxlint-disable-next-line no-console -- how much was covered is part of the result
      console.log(`${scenario.name}: killed at ${points} points around ${requests} writes`);
      expect(points).toBeGreaterThan(requests);
    }
  },
);
