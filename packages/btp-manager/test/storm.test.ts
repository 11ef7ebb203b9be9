import { Deployment, Secret } from '@slipway/kube';
import { isIssuedBy } from '@slipway/runtime';
import {
  onReference,
  playStorm,
  skipped,
  stormSeeds,
  type SeededRandom,
  type StormAct,
  type StormStory,
  type TestCluster,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { btpCluster, btpController, btpOperator, decode, encode, primary, read, reasonIn } from './kit.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });
/** Made by controllers of the cluster for what the manager makes. */
const madeByOthers = new Set(['ReplicaSet', 'Pod', 'EndpointSlice']);

function storyOf(random: SeededRandom): StormStory {
  const clients = Array.from({ length: 1 + random.below(3) }, (_, index) => `client-${index}`);
  const ends = random.chance(0.3);
  const steps: StormAct[] = [
    { name: 'create', run: ({ client }) => client.create(btpOperator()) },
    ...clients.map((clientid) => ({
      name: `credentials of ${clientid}`,
      run: ({ client }: TestCluster) =>
        client.patch(Secret, system('sap-btp-manager'), {
          type: 'merge',
          body: { data: { clientid: encode(clientid) } },
        }),
    })),
    ...(ends ? [{ name: 'delete', run: ({ client }: TestCluster) => client.delete(BtpOperator, primary) }] : []),
  ];
  return {
    name: 'btp-manager',
    cluster: () => btpCluster(),
    controllers: () => [btpController()],
    steps,
    edits: [
      { name: 'the CA is deleted', run: ({ client }) => client.delete(Secret, system('ca-server-cert')) },
      { name: 'the leaf is deleted', run: ({ client }) => client.delete(Secret, system('webhook-server-cert')) },
      {
        name: 'the credentials are deleted',
        run: ({ client }) => client.delete(Secret, system('sap-btp-service-operator')),
      },
      {
        name: 'the operator is scaled',
        run: ({ client }) =>
          client.patch(Deployment, system('sap-btp-operator-controller-manager'), {
            type: 'merge',
            body: { spec: { replicas: 3 } },
          }),
      },
    ],
    settled: (cluster) => (ends ? isGone(cluster) : isInForce(cluster, clients.at(-1)!)),
    isRecord: ({ kind }) => madeByOthers.has(kind),
  };
}

async function isGone(cluster: TestCluster): Promise<boolean> {
  return (await read(cluster)) === undefined;
}

/** Throws, with what it is waiting for, until the last credentials are in force and certificates belong together. */
async function isInForce(cluster: TestCluster, clientid: string): Promise<boolean> {
  const { client } = cluster;
  expect(reasonIn(await read(cluster))).toMatch(/^(ReconcileSucceeded|UpdateDone)$/);
  const credentials = await client.get(Secret, system('sap-btp-service-operator'));
  expect(decode(credentials?.data?.['clientid'])).toBe(clientid);
  const ca = await client.get(Secret, system('ca-server-cert'));
  const leaf = await client.get(Secret, system('webhook-server-cert'));
  expect(isIssuedBy(decode(leaf?.data?.['tls.crt']), decode(ca?.data?.['ca.crt']))).toBe(true);
  return true;
}

// On the reference cluster the module's webhooks have nobody to answer them in a storm; its lane runs whole-life instead.
const embeddedOnly = skipped(onReference, 'on the real API server: storms of the BTP Manager, which need virtual time');

describe.skipIf(embeddedOnly)('a BTP Manager in a storm comes to rest where its module says', () => {
  test.each(stormSeeds({ quick: 10 }))('storm %s', { timeout: 600_000 }, async (seed) => {
    const result = await playStorm(storyOf, seed, {
      replay: 'SLIPWAY_STORM=SEED npx vitest run packages/btp-manager/test/storm.test.ts',
    });
    expect(result.writes).toBeGreaterThan(0);
  });
});
