import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  isNotFound,
  NetworkPolicy,
  newObject,
  PriorityClass,
  Secret,
  type KubeObject,
} from '@slipway/kube';
import {
  playStorm,
  stormSeeds,
  type SeededRandom,
  type StormAct,
  type StormStory,
  type TestCluster,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  held,
  impatient,
  namespace,
  primary,
  read,
  reasonIn,
  requiredSecret,
  seededCertificates,
  serviceInstance,
  testSettings,
} from './kit.ts';
import { watchTrust } from './watch-trust.ts';
import { isInForce, ownLabel, tell, wishOf } from './wish.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });
/** Made by controllers of the cluster for what the manager makes. */
const madeByOthers = new Set(['ReplicaSet', 'Pod', 'EndpointSlice']);

/** Others' objects of which the manager knows: never changed, never deleted. */
const foreign: readonly KubeObject[] = [
  newObject(PriorityClass, { metadata: { name: 'btp-manager-kyma-priority' }, value: 1000 }),
  newObject(ConfigMap, { metadata: system('of-the-user'), data: { a: 'b' } }),
];

function storyOf(random: SeededRandom): StormStory {
  const wishes = Array.from({ length: 1 + random.below(3) }, (_, index) => wishOf(random, index));
  const ends = random.chance(0.35);
  // An instance that its operator never lets go.
  const stuck = ends && random.chance(0.5);
  const steps: StormAct[] = [
    { name: 'create', run: ({ client }) => client.create(btpOperator()) },
    ...wishes.map((wish) => ({ name: JSON.stringify(wish), run: (cluster: TestCluster) => tell(cluster, wish) })),
    ...(stuck ? [{ name: 'an instance', run: createInstance }] : []),
    ...(ends ? [{ name: 'delete', run: ({ client }: TestCluster) => client.delete(BtpOperator, primary) }] : []),
    ...(stuck ? [{ name: 'force', run: force }] : []),
  ];
  return {
    name: 'btp-manager',
    cluster: () =>
      btpCluster([namespace('creds'), requiredSecret(), ...seededCertificates(), ...foreign], {
        embedded: { random: random.fork('uids') },
      }),
    controllers: () => [btpController({ settings: testSettings({ ...impatient, ...hurry }) })],
    steps,
    edits,
    settled: async (cluster) => {
      await (ends ? isGone(cluster) : isInForce(cluster, wishes.at(-1)!));
      await expectForeign(cluster);
      return true;
    },
    watch: watchBtp,
    isRecord: ({ kind }) => madeByOthers.has(kind),
  };
}

const hurry = { HardDeleteTimeout: '5s', HardDeleteCheckInterval: '1s' };

/** Where the kind, which the module brings, is not there yet, there is no instance in this storm. */
const createInstance = ({ client }: TestCluster) => ifFound(client.create(serviceInstance('one', held)));

/** Where the module is gone already, its end needs no force. */
function force({ client }: TestCluster): Promise<unknown> {
  const body = { metadata: { labels: { 'force-delete': 'true' } } };
  return ifFound(client.patch(BtpOperator, primary, { type: 'merge', body }));
}

async function ifFound(act: Promise<unknown>): Promise<void> {
  await act.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

const edits: readonly StormAct[] = [
  { name: 'the CA is deleted', run: ({ client }) => client.delete(Secret, system('ca-server-cert')) },
  { name: 'the leaf is deleted', run: ({ client }) => client.delete(Secret, system('webhook-server-cert')) },
  ...(['kyma-system', 'creds'] as const).map((where) => ({
    name: `the credentials in ${where} are deleted`,
    run: ({ client }: TestCluster) => client.delete(Secret, { namespace: where, name: 'sap-btp-service-operator' }),
  })),
  {
    name: 'the operator is scaled',
    run: ({ client }) =>
      client.patch(Deployment, system('sap-btp-operator-controller-manager'), {
        type: 'merge',
        body: { spec: { replicas: 3 } },
      }),
  },
  {
    name: 'the operator is deleted',
    run: ({ client }) => client.delete(Deployment, system('sap-btp-operator-controller-manager')),
  },
  {
    name: 'the configuration is edited',
    run: ({ client }) =>
      client.patch(ConfigMap, system('sap-btp-operator-config'), {
        type: 'merge',
        body: { data: { CLUSTER_ID: 'of somebody else' } },
      }),
  },
  {
    name: 'network policies are deleted',
    run: ({ client }) => client.deleteCollection(NetworkPolicy, { namespace: 'kyma-system', labelSelector: ownLabel }),
  },
];

/** What pods serve is trusted at every instant, and what others made is left alone. */
function watchBtp(cluster: TestCluster): { verify(): void } {
  const trust = watchTrust(cluster);
  const touched: string[] = [];
  cluster.embedded?.observe(({ type, object }) => {
    const { kind, metadata } = object as unknown as KubeObject;
    const theirs = foreign.some((each) => each.kind === kind && each.metadata.name === metadata.name);
    const required = kind === 'Secret' && metadata.name === 'sap-btp-manager';
    if ((theirs && type !== 'ADDED') || (required && type === 'DELETED'))
      touched.push(`${type} ${kind} ${metadata.name}`);
  });
  return {
    verify() {
      trust.verify();
      expect(touched).toEqual([]);
    },
  };
}

/** Throws, with what it is waiting for, until nothing of the module is left but what the user made. */
async function isGone(cluster: TestCluster): Promise<void> {
  const { client } = cluster;
  expect(reasonIn(await read(cluster))).toBeUndefined();
  expect(await read(cluster)).toBeUndefined();
  const left = [
    ...(await Array.fromAsync(client.list(Secret, { labelSelector: ownLabel }))),
    ...(await Array.fromAsync(client.list(Deployment, { labelSelector: ownLabel }))),
    ...(await Array.fromAsync(client.list(NetworkPolicy, { labelSelector: ownLabel }))),
  ];
  expect(left.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([]);
  expect(
    await client.get(CustomResourceDefinition, { name: 'serviceinstances.services.cloud.sap.com' }),
  ).toBeUndefined();
}

async function expectForeign({ client }: TestCluster): Promise<void> {
  const [priority, configMap] = [
    await client.get(PriorityClass, { name: foreign[0]!.metadata.name! }),
    await client.get(ConfigMap, system('of-the-user')),
  ];
  expect([priority?.value, configMap?.data]).toEqual([1000, { a: 'b' }]);
}

describe('a BTP Manager in a storm comes to rest where its module says, and touches nothing of others', () => {
  test.each(stormSeeds({ quick: 2 }))('storm %s', { timeout: 600_000 }, async (seed) => {
    const result = await playStorm(storyOf, seed, {
      replay: 'SLIPWAY_STORM=SEED npx vitest run packages/btp-manager/test/storm.test.ts',
    });
    expect(result.writes).toBeGreaterThan(0);
  });
});
