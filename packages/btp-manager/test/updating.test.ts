import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigMap, Deployment, newObject, Pod, Secret } from '@slipway/kube';
import { onReference, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  decode,
  encode,
  isGone,
  messageIn,
  moduleCopy,
  namespace,
  primary,
  read,
  reaches,
  readyCluster,
  reasonIn,
  requiredSecret,
  seededCertificates,
  testSettings,
  watchReasons,
} from './kit.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });
const secretKey = system('sap-btp-manager');
const deploymentKey = system('sap-btp-operator-controller-manager');

const changeSecret = (cluster: TestCluster, values: Record<string, string>) =>
  cluster.client.patch(Secret, secretKey, {
    type: 'merge',
    body: { data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encode(value)])) },
  });

/** The manager goes and another one comes, as when its image changes. */
async function nextVersion(version: string): Promise<{ data: Record<string, string>; folder: string }> {
  const module = await moduleCopy();
  await writeFile(join(module.folder, 'module-chart', 'chart', 'Chart.yaml'), `name: x\nversion: ${version}\n`);
  return module;
}

describe('updating', () => {
  test('a new chart version goes through UpdateCheck and Updated to UpdateDone', async () => {
    await using cluster = await readyCluster();
    await cluster.manager.stop();
    const { data, folder } = await nextVersion('0.12.0');
    await writeFile(
      join(folder, 'module-resources', 'apply', 'extra.yml'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {a: b}\n',
    );
    await writeFile(
      join(folder, 'module-resources', 'delete', 'to-delete.yml'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-the-version-before, namespace: kyma-system}\n',
    );
    await cluster.client.create(newObject(ConfigMap, { metadata: system('of-the-version-before') }));
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    await cluster.run([btpController({ settings: testSettings(data) })]);
    const updated = await reaches(cluster, 'UpdateDone');
    expect(updated.status).toMatchObject({ state: 'Ready', chartVersion: '0.12.0' });
    expect(messageIn(updated)).toBe('updated from v0.11.10 to 0.12.0');
    if (seen) expect(seen).toEqual(['Processing/UpdateCheck', 'Processing/Updated', 'Ready/UpdateDone']);
    expect(await cluster.client.get(ConfigMap, system('of-the-version-before'))).toBeUndefined();
    for (const [kind, name] of [
      [Deployment, 'sap-btp-operator-controller-manager'],
      [ConfigMap, 'sap-btp-operator-config'],
      [ConfigMap, 'extra'],
    ] as const)
      expect((await cluster.client.get(kind, system(name)))?.metadata.labels?.['chart-version']).toBe('0.12.0');
  });

  test('a set of the user may hold any kind: the server says which ones live in namespaces', async () => {
    const { data, folder } = await moduleCopy();
    const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: planets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Planet, plural: planets, singular: planet, listKind: PlanetList}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`;
    const objects = [
      'apiVersion: example.com/v1\nkind: Planet\nmetadata: {name: mars}',
      'apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: driver.example.com}\nspec: {attachRequired: false}',
      'apiVersion: v1\nkind: LimitRange\nmetadata: {name: limits}\nspec: {limits: []}',
    ];
    await writeFile(join(folder, 'module-resources', 'apply', 'own.yml'), [definition, ...objects].join('\n---\n'));
    await using cluster = await readyCluster({ settings: testSettings(data) });
    const { client } = cluster;
    const found = async (apiVersion: string, kind: string, key: { namespace?: string; name: string }) =>
      await client.get(await client.resolve(apiVersion, kind), key);
    expect(await found('example.com/v1', 'Planet', { name: 'mars' })).toBeDefined();
    expect(await found('storage.k8s.io/v1', 'CSIDriver', { name: 'driver.example.com' })).toBeDefined();
    expect(await found('v1', 'LimitRange', system('limits'))).toBeDefined();
    await client.delete(BtpOperator, primary);
    await isGone(cluster);
    expect(await found('storage.k8s.io/v1', 'CSIDriver', { name: 'driver.example.com' })).toBeUndefined();
  });

  test('an installation of the original is taken over and updated', async () => {
    await using cluster = await readyCluster();
    await cluster.manager.stop();
    // The original keeps no version in the status.
    await cluster.client.patch(
      BtpOperator,
      primary,
      { type: 'merge', body: { status: { chartVersion: null } } },
      { subresource: 'status' },
    );
    const { data } = await nextVersion('0.12.0');
    await cluster.run([btpController({ settings: testSettings(data) })]);
    expect(messageIn(await reaches(cluster, 'UpdateDone'))).toBe('updated from v0.11.10 to 0.12.0');
  });

  test('UpdateCheckSucceeded: the manager went back before anything was changed', async () => {
    await using cluster = await readyCluster();
    await cluster.manager.stop();
    await cluster.client.patch(
      BtpOperator,
      primary,
      {
        type: 'merge',
        body: {
          status: {
            state: 'Processing',
            conditions: [
              {
                type: 'Ready',
                status: 'False',
                reason: 'UpdateCheck',
                message: 'checking',
                lastTransitionTime: '2026-01-01T00:00:00Z',
              },
            ],
          },
        },
      },
      { subresource: 'status' },
    );
    await cluster.run([btpController()]);
    const back = await reaches(cluster, 'UpdateCheckSucceeded');
    expect(back.status?.state).toBe('Ready');
  });

  test('ConsistencyCheckFailed: a version the server would refuse changes nothing', async () => {
    await using cluster = await readyCluster();
    await cluster.manager.stop();
    const { data, folder } = await nextVersion('0.12.0');
    const file = join(folder, 'module-resources', 'apply', 'extra.yml');
    await writeFile(file, 'apiVersion: v1\nkind: Service\nmetadata: {name: extra}\nspec: {ports: [{port: 700000}]}\n');
    const before = await cluster.client.get(ConfigMap, system('sap-btp-operator-config'));
    await cluster.run([btpController({ settings: testSettings(data) })]);
    const refused = await reaches(cluster, 'ConsistencyCheckFailed');
    expect(refused.status?.state).toBe('Error');
    expect(messageIn(refused)).toContain('Service kyma-system/extra');
    expect(await cluster.client.get(ConfigMap, system('sap-btp-operator-config'))).toEqual(before);
    await writeFile(file, '');
    if (!onReference) await reaches(cluster, 'UpdateDone');
  });

  test('a hiccup of the server during the check is no verdict on the version', async () => {
    await using cluster = await readyCluster();
    await cluster.manager.stop();
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    const { data } = await nextVersion('0.12.0');
    const unavailable = { status: 503, reason: 'ServiceUnavailable' };
    const busy = cluster.refuse({ verb: 'patch', resource: 'services', times: 1 }, unavailable);
    await cluster.run([btpController({ settings: testSettings(data) })]);
    await reaches(cluster, 'UpdateDone', { withinMs: 60_000 });
    expect(busy.hits).toBe(1);
    expect(seen ?? []).not.toContain('Error/ConsistencyCheckFailed');
  });

  test('a Secret whose name comes from the ConfigMap is noticed at once, like one of the default name', async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' };
    const settings = newObject(ConfigMap, {
      metadata: { ...system('sap-btp-manager'), labels },
      data: { SecretName: 'my-credentials' },
    });
    await using cluster = await btpCluster([requiredSecret(), settings, ...seededCertificates()]);
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    expect(messageIn(await reaches(cluster, 'MissingSecret'))).toContain('my-credentials');
    const secret = requiredSecret();
    await cluster.client.create({ ...secret, metadata: { ...secret.metadata, name: 'my-credentials' } });
    // Long before the interval of five minutes.
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 30_000 });
  });

  test('changed settings in the ConfigMap take effect at once, and go when the key goes', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    const cacheSetting = async () =>
      (await client.get(ConfigMap, system('sap-btp-operator-config')))?.data?.['ENABLE_LIMITED_CACHE'];
    expect(await cacheSetting()).toBe('true');
    const labels = { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' };
    await client.create(
      newObject(ConfigMap, {
        metadata: { ...system('sap-btp-manager'), labels },
        data: { EnableLimitedCache: 'false', ReadyTimeout: 'whenever' },
      }),
    );
    await cluster.eventually('the setting is in force', async () => (await cacheSetting()) === 'false', {
      withinMs: 10_000,
    });
    expect(await cluster.manager.manager.registry.metrics()).toMatch(/^btpmanager_custom_config_applied 1$/m);
    expect(cluster.manager.logs).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ setting: 'ReadyTimeout' }) as unknown,
      }),
    );
    await client.delete(ConfigMap, system('sap-btp-manager'));
    await cluster.eventually('the default is back', async () => (await cacheSetting()) === 'true', {
      withinMs: 10_000,
    });
    expect(await cluster.manager.manager.registry.metrics()).toMatch(/^btpmanager_custom_config_applied 0$/m);
  });
});

describe('changed credentials', () => {
  test('new credentials are passed on without leaving Ready and without a restart', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    const before = await client.get(Deployment, deploymentKey);
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    await changeSecret(cluster, { clientsecret: 'brand-new', extra: 'more' });
    await cluster.eventually(
      'the new secret is there',
      async () => {
        const secret = await client.get(Secret, system('sap-btp-service-operator'));
        return decode(secret?.data?.['clientsecret']) === 'brand-new' && decode(secret?.data?.['extra']) === 'more';
      },
      { withinMs: 10_000 },
    );
    expect((await client.get(Deployment, deploymentKey))?.metadata.generation).toBe(before?.metadata.generation);
    if (seen) expect(seen.filter((entry) => entry !== 'Ready/ReconcileSucceeded')).toEqual([]);
  });

  test('ClusterIdChanged: the service operator restarts with the new id', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    const clusterId = system('sap-btp-operator-clusterid');
    await client.create(newObject(Secret, { metadata: clusterId, data: { INITIAL_CLUSTER_ID: encode('cluster-1') } }));
    const before = await operatorPods(cluster);
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    await changeSecret(cluster, { cluster_id: 'cluster-2' });
    await cluster.eventually('the operator is told', async () => {
      const config = await client.get(ConfigMap, system('sap-btp-operator-config'));
      return config?.data?.['CLUSTER_ID'] === 'cluster-2';
    });
    await reaches(cluster, 'ReconcileSucceeded');
    expect(await client.get(Secret, clusterId)).toBeUndefined();
    await cluster.eventually('the pods are new ones', async () => {
      const now = await operatorPods(cluster);
      return now.length === 1 && !before.includes(now[0]!);
    });
    const secret = await client.get(Secret, secretKey);
    expect(secret?.metadata.annotations?.['operator.kyma-project.io/previous-cluster-id']).toBe('cluster-1');
    if (seen) expect(seen).toContain('Processing/ClusterIdChanged');
  });

  test('CredentialsNamespaceChanged: the old Secret goes only after the new one is there', async () => {
    await using cluster = await readyCluster({}, [namespace('creds'), requiredSecret(), ...seededCertificates()]);
    const { client } = cluster;
    const name = 'sap-btp-service-operator';
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    let without = 0;
    const present = new Set(['kyma-system']);
    cluster.embedded?.observe(({ type, object }) => {
      const { kind, metadata } = object as { kind?: string; metadata: { name: string; namespace?: string } };
      if (kind !== 'Secret' || metadata.name !== name) return;
      if (type === 'DELETED') present.delete(metadata.namespace!);
      else present.add(metadata.namespace!);
      if (present.size === 0) without += 1;
    });
    await client.create(
      newObject(Secret, {
        metadata: system('sap-btp-operator-clusterid'),
        data: { INITIAL_CLUSTER_ID: encode('cluster-1') },
      }),
    );
    await changeSecret(cluster, { credentials_namespace: 'creds' });
    await cluster.eventually('the old Secret is gone', async () => !(await client.get(Secret, system(name))));
    await reaches(cluster, 'ReconcileSucceeded');
    expect(await client.get(Secret, { namespace: 'creds', name })).toBeDefined();
    expect(await client.get(Secret, system('sap-btp-operator-clusterid'))).toBeUndefined();
    const config = await client.get(ConfigMap, system('sap-btp-operator-config'));
    expect(config?.data).toMatchObject({ RELEASE_NAMESPACE: 'creds', MANAGEMENT_NAMESPACE: 'creds' });
    const secret = await client.get(Secret, secretKey);
    expect(secret?.metadata.annotations?.['operator.kyma-project.io/previous-credentials-namespace']).toBe(
      'kyma-system',
    );
    if (cluster.embedded) {
      expect(without).toBe(0);
      expect(seen).toContain('Processing/CredentialsNamespaceChanged');
    }
    // And back again.
    await changeSecret(cluster, { credentials_namespace: 'kyma-system' });
    await cluster.eventually('it is back', async () => !(await client.get(Secret, { namespace: 'creds', name })));
    expect(await client.get(Secret, system(name))).toBeDefined();
  });

  test('a change and its reversal leave nothing to remember', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    for (const id of ['cluster-2', 'cluster-1', 'cluster-3', 'cluster-1']) {
      await changeSecret(cluster, { cluster_id: id });
      await cluster.eventually(`the operator is told ${id}`, async () => {
        const config = await client.get(ConfigMap, system('sap-btp-operator-config'));
        return config?.data?.['CLUSTER_ID'] === id && reasonIn(await read(cluster)) === 'ReconcileSucceeded';
      });
    }
    const pods = await operatorPods(cluster);
    await cluster.advance(onReference ? 500 : 30 * 60_000);
    expect(await operatorPods(cluster)).toEqual(pods);
  });

  test('what should be removed but is gone already is no failure', async () => {
    await using cluster = await readyCluster({}, [namespace('creds'), requiredSecret(), ...seededCertificates()]);
    // There is no cluster id Secret at all, and the credentials Secret goes by hand at the same moment.
    cluster.embedded?.faults.add({
      match: { verb: 'delete', resource: 'secrets', name: 'sap-btp-service-operator', times: 1 },
      action: { type: 'error', status: 404, reason: 'NotFound' },
    });
    await changeSecret(cluster, { credentials_namespace: 'creds' });
    await cluster.eventually('the new Secret is there', () =>
      cluster.client.get(Secret, { namespace: 'creds', name: 'sap-btp-service-operator' }),
    );
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test('a missing Secret leaves the service operator running', async () => {
    await using cluster = await readyCluster();
    await cluster.client.delete(Secret, secretKey);
    const warned = await reaches(cluster, 'MissingSecret');
    expect(warned.status?.state).toBe('Warning');
    expect(await cluster.client.get(Deployment, deploymentKey)).toBeDefined();
    await cluster.client.create(requiredSecret());
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 60_000 });
  });
});

describe('--singleton=oldest', () => {
  test('the oldest represents the module, the others are told so and take over in turn', async () => {
    await using cluster = await btpCluster();
    const first = { namespace: 'default', name: 'zulu' };
    const second = { namespace: 'kyma-system', name: 'alpha' };
    await cluster.client.create(btpOperator(first));
    await cluster.advance(1000);
    await cluster.client.create(btpOperator(second));
    await cluster.run([btpController({ singleton: 'oldest' })]);
    await reaches(cluster, 'ReconcileSucceeded', { key: first });
    const other = await reaches(cluster, 'OlderCRExists', { key: second });
    expect(other.status?.state).toBe('Warning');
    expect(messageIn(other)).toBe('default/zulu is older and represents the module');
    expect(other.metadata.finalizers).toBeUndefined();
    await cluster.client.delete(BtpOperator, first);
    await reaches(cluster, 'ReconcileSucceeded', { key: second, withinMs: 120_000 });
    expect(await read(cluster, first)).toBeUndefined();
  });
});

async function operatorPods(cluster: TestCluster): Promise<string[]> {
  const found: string[] = [];
  const labelSelector = { 'app.kubernetes.io/instance': 'sap-btp-operator' };
  for await (const { metadata } of cluster.client.list(Pod, { namespace: 'kyma-system', labelSelector }))
    if (metadata.deletionTimestamp === undefined) found.push(metadata.uid!);
  return found.sort();
}
