import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigMap, newObject, Secret } from '@slipway/kube';
import { isIssuedBy } from '@slipway/runtime';
import {
  onReference,
  snapshotCluster,
  sweepCrashes,
  sweepFaults,
  type CrashSweepOptions,
  type Scenario,
  type ScenarioStep,
  type TestCluster,
  skipped,
} from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator, ServiceBinding, ServiceInstance } from '../src/api.ts';
import type { BtpManagerOptions } from '../src/btp-operator/controller.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  decode,
  encode,
  held,
  impatient,
  moduleCopy,
  namespace,
  primary,
  read,
  reaches,
  reasonIn,
  requiredSecret,
  seededCertificates,
  serviceBinding,
  serviceInstance,
  testSettings,
} from './kit.ts';
import { watchTrust } from './watch-trust.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });
const [newer, brief] = [await moduleCopy(), testSettings({ HardDeleteTimeout: '1s', HardDeleteCheckInterval: '1s' })];
await writeFile(join(newer.folder, 'module-chart', 'chart', 'Chart.yaml'), 'version: 0.12.0\n');
await writeFile(
  join(newer.folder, 'module-resources', 'delete', 'to-delete.yml'),
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: outdated, namespace: kyma-system}\n',
);

/** All of the cluster but what is different each time it is made: names of pods, addresses, keys. */
async function endState(cluster: TestCluster): Promise<unknown> {
  const snapshot = await snapshotCluster(cluster.client, {
    without: ['pods', 'replicasets.apps', 'endpointslices.discovery.k8s.io', 'deployments.apps'],
  });
  const text = JSON.stringify(snapshot, (key, value: unknown) =>
    /^(ca\.crt|ca\.key|ca-previous\.crt|tls\.crt|tls\.key|caBundle|clusterIPs?)$/.test(key) ? '(made)' : value,
  );
  return JSON.parse(text);
}

const ready = (reason: string): ((cluster: TestCluster) => Promise<boolean>) => {
  return async (cluster) => reasonIn(await read(cluster)) === reason;
};
const gone = async (cluster: TestCluster) => (await read(cluster)) === undefined;

const create: ScenarioStep = {
  name: 'create',
  run: async ({ client }) => void (await client.create(btpOperator())),
  settled: ready('ReconcileSucceeded'),
};
const remove = (settled: ScenarioStep['settled'] = gone): ScenarioStep => ({
  name: 'delete',
  run: async ({ client }) => void (await client.delete(BtpOperator, primary)),
  settled,
});
const force: ScenarioStep = {
  name: 'force',
  async run({ client }) {
    const body = { metadata: { labels: { 'force-delete': 'true' } } };
    await client.patch(BtpOperator, primary, { type: 'merge', body });
  },
  settled: gone,
};
const add = (...objects: Parameters<TestCluster['client']['create']>[0][]): ScenarioStep => ({
  name: 'objects of users',
  async run({ client }) {
    for (const object of objects) await client.create(object);
  },
  settled: async () => true,
});

/** A cluster on which the module is ready already: only what comes after is disturbed. */
async function installed(): Promise<TestCluster> {
  const cluster = await btpCluster([
    namespace('creds'),
    requiredSecret(),
    ...seededCertificates(),
    newObject(ConfigMap, { metadata: system('outdated') }),
  ]);
  const manager = await cluster.run([btpController()]);
  await cluster.client.create(btpOperator());
  await reaches(cluster, 'ReconcileSucceeded');
  await manager.stop();
  return cluster;
}

function scenario(
  name: string,
  steps: readonly ScenarioStep[],
  options: Partial<BtpManagerOptions> = {},
  rest: Partial<Scenario> = {},
): Scenario {
  return {
    name,
    cluster: installed,
    controllers: () => [btpController(options)],
    steps,
    snapshot: endState,
    ...rest,
  };
}

const rotateCredentials: ScenarioStep = {
  name: 'new cluster id and namespace',
  async run({ client }) {
    const id = newObject(Secret, {
      metadata: system('sap-btp-operator-clusterid'),
      data: { INITIAL_CLUSTER_ID: encode('cluster-1') },
    });
    await client.create(id);
    const data = { cluster_id: encode('cluster-2'), credentials_namespace: encode('creds') };
    await client.patch(Secret, system('sap-btp-manager'), { type: 'merge', body: { data } });
  },
  async settled(cluster) {
    const name = 'sap-btp-service-operator';
    const [moved, left] = await Promise.all([
      cluster.client.get(Secret, { namespace: 'creds', name }),
      cluster.client.get(Secret, system(name)),
    ]);
    return moved !== undefined && left === undefined && (await ready('ReconcileSucceeded')(cluster));
  },
};

const rotateCertificates: ScenarioStep = {
  name: 'the CA is lost',
  run: async ({ client }) => void (await client.delete(Secret, system('ca-server-cert'))),
  async settled({ client }) {
    const ca = await client.get(Secret, system('ca-server-cert'));
    const leaf = await client.get(Secret, system('webhook-server-cert'));
    if (!ca || !leaf) return false;
    return isIssuedBy(decode(leaf.data?.['tls.crt']), decode(ca.data?.['ca.crt']));
  },
};

const held2 = [serviceInstance('one', held), serviceBinding('two', held)];
const release: ScenarioStep = {
  name: 'the service operator lets go',
  async run({ client }) {
    const body = { metadata: { finalizers: null } };
    for (const [kind, name] of [
      [ServiceBinding, 'two'],
      [ServiceInstance, 'one'],
    ] as const)
      await client.patch(kind, { namespace: 'default', name }, { type: 'merge', body });
  },
  settled: gone,
};
const deleting = async ({ client }: TestCluster) => {
  const instance = await client.get(ServiceInstance, { namespace: 'default', name: 'one' });
  return instance?.metadata.deletionTimestamp !== undefined;
};
const unblock: ScenarioStep = {
  name: 'the last instance goes',
  run: async ({ client }) => void (await client.delete(ServiceInstance, { namespace: 'default', name: 'one' })),
  settled: gone,
};

/** On the real API server a life takes seconds: there it is one life with everything in it, and a handful of deaths. */
const wholeLife = scenario(
  'a whole life',
  [
    create,
    rotateCredentials,
    rotateCertificates,
    add(...held2),
    remove(ready('ServiceInstancesAndBindingsNotCleaned')),
    { ...force, settled: deleting },
    release,
  ],
  { settings: testSettings(impatient) },
  { cluster: () => btpCluster([namespace('creds'), requiredSecret(), ...seededCertificates()]) },
);
const stories: readonly Scenario[] = [
  scenario('provision', [create], {}, { cluster: () => btpCluster() }),
  scenario('update', [{ name: 'a new version', run: async () => undefined, settled: ready('UpdateDone') }], {
    settings: testSettings(newer.data),
  }),
  scenario('credential rotation', [rotateCredentials]),
  scenario('certificate rotation', [rotateCertificates], {}, { watch: watchTrust }),
  scenario('blocked delete', [
    add(serviceInstance('one')),
    remove(ready('ServiceInstancesAndBindingsNotCleaned')),
    unblock,
  ]),
  scenario(
    'forced delete',
    [add(...held2), remove(ready('ServiceInstancesAndBindingsNotCleaned')), { ...force, settled: deleting }, release],
    {},
    // A hard delete notes once a minute that somebody looks: the time nobody does must not count.
    { writes: { accepted: 12 } },
  ),
  scenario(
    'soft delete',
    [
      add(...held2, newObject(Secret, { metadata: { namespace: 'default', name: 'two' }, data: {} })),
      remove(ready('ServiceInstancesAndBindingsNotCleaned')),
      force,
    ],
    { settings: brief },
  ),
];
const scenarios = onReference ? [wholeLife] : stories;

/** All points take minutes; `SLIPWAY_SWEEP=full` tries them all, otherwise one of each story is. */
const full = process.env['SLIPWAY_SWEEP'] === 'full';
const points: CrashSweepOptions = onReference
  ? { stride: 24, phases: ['after'] }
  : full
    ? {}
    : { first: 3, stride: 37, phases: ['after'] };

describe('a manager that dies at any write', () => {
  test.each(scenarios)('$name', { timeout: 900_000 }, async (each) => {
    const result = await sweepCrashes(each, points);
    // oxlint-disable-next-line no-console -- how much was covered is part of the result
    console.log(`${result.scenario}: killed at ${result.points} points around ${result.requests} writes`);
    expect(result.points).toBeGreaterThan(onReference ? 1 : 0);
  });
});

const embeddedOnly = skipped(
  onReference,
  'on the real API server: faults at its requests, which would take hours there',
);

describe.skipIf(embeddedOnly)('a manager with stale caches, lost events, lost answers and conflicts', () => {
  test.each(full ? stories : stories.slice(0, 1))('$name', { timeout: 900_000 }, async (each) => {
    const result = await sweepFaults(each, { stride: full ? 1 : 74 });
    // oxlint-disable-next-line no-console -- how much was covered is part of the result
    console.log(`${result.scenario}: ${result.points} disturbed runs around ${result.requests} writes`);
    expect(result.points).toBeGreaterThan(0);
  });
});
