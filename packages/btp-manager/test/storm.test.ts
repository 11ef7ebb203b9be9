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
import { isIssuedBy } from '@slipway/runtime';
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
  decode,
  encode,
  held,
  impatient,
  messageIn,
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

const system = (name: string) => ({ namespace: 'kyma-system', name });
/** Made by controllers of the cluster for what the manager makes. */
const madeByOthers = new Set(['ReplicaSet', 'Pod', 'EndpointSlice']);
const ownLabel = 'app.kubernetes.io/managed-by=btp-manager';

/** What the module is told, and by which it is judged at the end. */
interface Wish {
  readonly clientid: string;
  readonly cluster_id: string;
  readonly credentials_namespace: 'creds' | 'kyma-system';
  readonly policies: boolean;
}

/** Others' objects of which the manager knows: never changed, never deleted. */
const foreign: readonly KubeObject[] = [
  newObject(PriorityClass, { metadata: { name: 'btp-manager-kyma-priority' }, value: 1000 }),
  newObject(ConfigMap, { metadata: system('of-the-user'), data: { a: 'b' } }),
];

function wishOf(random: SeededRandom, index: number): Wish {
  return {
    clientid: `client-${index}`,
    cluster_id: `cluster-${random.below(2)}`,
    credentials_namespace: random.pick(['creds', 'kyma-system']),
    policies: random.chance(0.7),
  };
}

async function tell({ client }: TestCluster, { policies, ...credentials }: Wish): Promise<void> {
  const data = Object.fromEntries(Object.entries(credentials).map(([key, value]) => [key, encode(value)]));
  await client.patch(Secret, system('sap-btp-manager'), { type: 'merge', body: { data } });
  const annotations = { 'operator.kyma-project.io/btp-operator-disable-network-policies': policies ? null : 'true' };
  await client.patch(BtpOperator, primary, { type: 'merge', body: { metadata: { annotations } } });
}

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
    settled: (cluster) => (ends ? isGone(cluster) : isInForce(cluster, wishes.at(-1)!)),
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
async function isGone(cluster: TestCluster): Promise<boolean> {
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
  await expectForeign(cluster);
  return true;
}

/** Throws, with what it is waiting for, until the last wish is in force and certificates belong together. */
async function isInForce(cluster: TestCluster, wish: Wish): Promise<boolean> {
  const { client } = cluster;
  const btp = await read(cluster);
  expect(`${reasonIn(btp)}: ${messageIn(btp)}`).toMatch(/^(ReconcileSucceeded|UpdateDone):/);
  const there = wish.credentials_namespace;
  const elsewhere = there === 'creds' ? 'kyma-system' : 'creds';
  const credentials = (where: string) => client.get(Secret, { namespace: where, name: 'sap-btp-service-operator' });
  expect(decode((await credentials(there))?.data?.['clientid'])).toBe(wish.clientid);
  expect(await credentials(elsewhere)).toBeUndefined();
  const configuration = await client.get(ConfigMap, system('sap-btp-operator-config'));
  expect(configuration?.data).toMatchObject({ CLUSTER_ID: wish.cluster_id, MANAGEMENT_NAMESPACE: there });
  const deployment = await client.get(Deployment, system('sap-btp-operator-controller-manager'));
  expect(deployment?.spec?.replicas).toBe(1);
  const policies = await Array.fromAsync(client.list(NetworkPolicy, { labelSelector: ownLabel }));
  expect(policies).toHaveLength(wish.policies ? 4 : 0);
  const ca = await client.get(Secret, system('ca-server-cert'));
  const leaf = await client.get(Secret, system('webhook-server-cert'));
  expect(isIssuedBy(decode(leaf?.data?.['tls.crt']), decode(ca?.data?.['ca.crt']))).toBe(true);
  await expectForeign(cluster);
  return true;
}

async function expectForeign({ client }: TestCluster): Promise<void> {
  const [priority, configMap] = [
    await client.get(PriorityClass, { name: foreign[0]!.metadata.name! }),
    await client.get(ConfigMap, system('of-the-user')),
  ];
  expect([priority?.value, configMap?.data]).toEqual([1000, { a: 'b' }]);
}

describe('a BTP Manager in a storm comes to rest where its module says, and touches nothing of others', () => {
  test.each(stormSeeds({ quick: 4 }))('storm %s', { timeout: 600_000 }, async (seed) => {
    const result = await playStorm(storyOf, seed, {
      replay: 'SLIPWAY_STORM=SEED npx vitest run packages/btp-manager/test/storm.test.ts',
    });
    expect(result.writes).toBeGreaterThan(0);
  });
});
