import {
  ClusterRole,
  ClusterRoleBinding,
  NetworkPolicy,
  newObject,
  Pod,
  Secret,
  type PolicyRule,
  type Transport,
} from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { onReference, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { btpManager } from '../src/operator.ts';
import { handedOn, ownPermissions } from '../src/permissions.ts';
import { ModuleLoader } from '../src/resources/load.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  encode,
  held,
  isGone,
  namespace,
  primary,
  reaches,
  requiredSecret,
  serviceBinding,
  serviceInstance,
  testSettings,
} from './kit.ts';

const user = { name: 'btp-manager-under-test', groups: ['system:authenticated'] };

/** What every manager may do besides. */
const common: readonly PolicyRule[] = [
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

async function grant(cluster: TestCluster, rules: readonly PolicyRule[]): Promise<void> {
  const metadata = { name: 'under-test' };
  await cluster.client.apply(newObject(ClusterRole, { metadata, rules: rules as PolicyRule[] }));
  await cluster.client.apply(
    newObject(ClusterRoleBinding, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'under-test' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user.name }],
    }),
  );
}

/** The way in for the user under test. */
function transportOf(cluster: TestCluster): Transport {
  if (cluster.embedded) return cluster.embedded.transportFor({ user });
  const inner = cluster.transport();
  const as = { 'impersonate-user': user.name };
  return {
    send: (request, signal) => inner.send({ ...request, headers: { ...request.headers, ...as } }, signal),
    open: (request, handler) => inner.open({ ...request, headers: { ...request.headers, ...as } }, handler),
    close: () => inner.close(),
  };
}

const enforced = { embedded: { authorization: 'RBAC' } } as const;

/** One life in which the manager does everything it can do. */
async function wholeLife(cluster: TestCluster): Promise<void> {
  const { client } = cluster;
  await client.create(btpOperator());
  await reaches(cluster, 'ReconcileSucceeded');
  // Drift: another cluster id and namespace, a pod that refused to start.
  await client.create(
    newObject(Secret, {
      metadata: { namespace: 'kyma-system', name: 'sap-btp-operator-clusterid' },
      data: { INITIAL_CLUSTER_ID: encode('cluster-1') },
    }),
  );
  await client.patch(
    Secret,
    { namespace: 'kyma-system', name: 'sap-btp-manager' },
    {
      type: 'merge',
      body: { data: { cluster_id: encode('cluster-2'), credentials_namespace: encode('creds') } },
    },
  );
  await cluster.eventually('the credentials have moved', () =>
    client.get(Secret, { namespace: 'creds', name: 'sap-btp-service-operator' }),
  );
  await reaches(cluster, 'ReconcileSucceeded');
  // Blocked, then forced, then soft.
  await client.create(serviceInstance('one', held));
  await client.create(serviceBinding('two', held));
  await client.create(newObject(Secret, { metadata: { namespace: 'default', name: 'two' }, data: {} }));
  await client.delete(BtpOperator, primary);
  await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
  const body = {
    metadata: {
      labels: { 'force-delete': 'true' },
      annotations: { 'operator.kyma-project.io/btp-operator-disable-network-policies': 'true' },
    },
  };
  await client.patch(BtpOperator, primary, { type: 'merge', body });
  await isGone(cluster);
}

/** Two more lives: one that finds things of earlier installations and ends quietly, one whose hard delete is refused. */
async function livesWithLeftOvers(cluster: TestCluster): Promise<void> {
  const { client } = cluster;
  const system = (name: string) => ({ namespace: 'kyma-system', name });
  const legacy = system('kyma-project.io--btp-operator-allow-to-webhook');
  await client.create(newObject(NetworkPolicy, { metadata: legacy, spec: { podSelector: {} } }));
  await client.create(
    newObject(Secret, { metadata: system('sap-btp-operator-clusterid'), data: { INITIAL_CLUSTER_ID: encode('old') } }),
  );
  const labels = { 'app.kubernetes.io/instance': 'sap-btp-operator' };
  const spec = { schedulingGates: [{ name: 'test/gate' }], containers: [{ name: 'manager', image: 'x' }] };
  await client.create(newObject(Pod, { metadata: { ...system('refused'), labels }, spec }));
  const status = { conditions: [{ type: 'Ready', status: 'False' }] };
  await client.patch(Pod, system('refused'), { type: 'merge', body: { status } }, { subresource: 'status' });
  await client.patch(Secret, system('sap-btp-manager'), {
    type: 'merge',
    body: { data: { credentials_namespace: null } },
  });
  await client.create(btpOperator());
  await reaches(cluster, 'ReconcileSucceeded');
  await client.delete(BtpOperator, primary);
  await isGone(cluster);

  await client.create(btpOperator({ labels: { 'force-delete': 'true' } }));
  await reaches(cluster, 'ReconcileSucceeded');
  await client.create(serviceInstance('one', held));
  await client.create(serviceBinding('two', held));
  cluster.embedded!.faults.add({
    match: { verb: 'deletecollection', group: 'services.cloud.sap.com' },
    action: { type: 'error', status: 500, message: 'failed calling webhook' },
  });
  await client.delete(BtpOperator, primary);
  await isGone(cluster);
}

describe('permissions', () => {
  test('are enough for everything the manager does', async () => {
    await using cluster = await btpCluster([namespace('creds'), requiredSecret()], enforced);
    await grant(cluster, [...btpManager.permissions, ...common]);
    const refused: string[] = [];
    cluster.embedded?.intercept(({ user: who, verb, path, status }, phase) => {
      if (phase === 'after' && who.name === user.name && status === 403) refused.push(`${verb} ${path}`);
    });
    const settings = testSettings({ HardDeleteTimeout: '1s', HardDeleteCheckInterval: '1s' });
    const { logs } = await cluster.run([btpController({ settings })], {
      cluster: { transport: transportOf(cluster) },
    });
    await wholeLife(cluster);
    expect(refused).toEqual([]);
    expect(
      JSON.stringify(logs, (_key, value: unknown) => (value instanceof Error ? value.message : value)),
    ).not.toMatch(/forbidden/i);
  });

  test.skipIf(onReference)('are not more than it uses', async () => {
    await using cluster = await btpCluster([namespace('creds'), requiredSecret()]);
    const used = new Set<string>();
    cluster.embedded!.intercept(({ user: who, verb, resource, status }, phase) => {
      if (phase !== 'after' || who.name !== user.name || !resource) return;
      const { group, plural, subresource } = resource;
      used.add(`${verb} ${subresource ? `${plural}/${subresource}` : plural}.${group}`);
      // A server-side apply that creates needs both.
      if (verb === 'patch' && status === 201) used.add(`create ${plural}.${group}`);
    });
    const settings = testSettings({ HardDeleteTimeout: '1s', HardDeleteCheckInterval: '1s' });
    await cluster.run([btpController({ settings })], { cluster: { transport: transportOf(cluster) } });
    await wholeLife(cluster);
    await livesWithLeftOvers(cluster);
    const unused = entriesOf(ownPermissions).filter((entry) => !used.has(entry));
    // For --singleton=oldest, and for servers that cannot begin a watch with a list.
    expect(unused).toEqual(['list btpoperators.operator.kyma-project.io']);
  });

  test('cover what is handed on to the service operator', async () => {
    const { apply } = await new ModuleLoader().load(testSettings());
    const wanted = apply
      .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
      .flatMap((role) => entriesOf(role['rules'] as PolicyRule[]));
    expect(new Set(entriesOf(handedOn))).toEqual(new Set(wanted));
  });

  test.skipIf(onReference)('a missing rule shows', async () => {
    await using cluster = await btpCluster([requiredSecret()], enforced);
    const without = btpManager.permissions.filter(({ resources }) => !resources?.includes('customresourcedefinitions'));
    await grant(cluster, [...without, ...common]);
    await cluster.run([btpController()], { cluster: { transport: transportOf(cluster) } });
    await cluster.client.create(btpOperator());
    const failed = await reaches(cluster, 'ProvisioningFailed');
    expect(failed.status?.conditions?.[0]?.message).toContain('customresourcedefinitions');
  });
});

describe('the description of the operator', () => {
  test('refuses flags that cannot be used, and names them', () => {
    const env = { SAP_BTP_SERVICE_OPERATOR: 'x' };
    expect(() => btpManager.controllers({ flags: { singleton: 'youngest' }, env })).toThrow('neither fixed nor oldest');
    expect(() => btpManager.controllers({ flags: { 'ready-timeout': 'x' }, env })).toThrow('--ready-timeout');
    expect(btpManager.controllers({ flags: {}, env })).toHaveLength(1);
  });

  test('has an example that can be applied', () => {
    for (const { manifest } of btpManager.examples)
      expect(parseManifests(manifest).map(({ kind }) => kind)).toEqual(['Namespace', 'Secret', 'BtpOperator']);
  });

  test('names no folder of this machine', () => {
    const { manifestsDir: _folder, ...rest } = btpManager;
    expect(JSON.stringify(rest)).not.toContain(import.meta.dirname.slice(0, 6));
  });
});

function entriesOf(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  );
}
