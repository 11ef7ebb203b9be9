import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  isConditionTrue,
  MutatingWebhookConfiguration,
  NetworkPolicy,
  newObject,
  PriorityClass,
  Secret,
  ServiceAccount,
  ValidatingWebhookConfiguration,
  type KubeObject,
} from '@slipway/kube';
import { onReference, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  decode,
  encode,
  impatient,
  isGone,
  messageIn,
  moduleCopy,
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

describe('provisioning, step by step', () => {
  test('the CR is picked up, gets a finalizer and becomes Ready', async () => {
    await using cluster = await btpCluster();
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    const ready = await reaches(cluster, 'ReconcileSucceeded');
    expect(ready.metadata.finalizers).toEqual(['operator.kyma-project.io/btp-manager']);
    expect(ready.status).toMatchObject({
      state: 'Ready',
      chartVersion: 'v0.11.10',
      conditions: [{ type: 'Ready', status: 'True', message: 'Module provisioning succeeded' }],
    });
    expect(ready.status).not.toHaveProperty('waitingSince');
    if (seen) expect(seen).toEqual(['Processing/Initialized', 'Ready/ReconcileSucceeded']);
  });

  test('a CR with a null spec is as good as one without', async () => {
    await using cluster = await btpCluster();
    await cluster.run([btpController()]);
    await cluster.client.create({ ...btpOperator(), spec: null } as unknown as BtpOperator);
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test('another name or namespace gets a warning and nothing else', async () => {
    await using cluster = await btpCluster();
    await cluster.run([btpController()]);
    const keys = [
      { namespace: 'kyma-system', name: 'other' },
      { namespace: 'default', name: 'btpoperator' },
    ];
    for (const key of keys) {
      await cluster.client.create(btpOperator(key));
      const other = await reaches(cluster, 'WrongNamespaceOrName', { key });
      expect(other.status?.state).toBe('Warning');
      expect(messageIn(other)).toBe(
        "Your resource must be in the kyma-system namespace. The resource's name must be btpoperator.",
      );
      expect(other.metadata.finalizers).toBeUndefined();
      await cluster.client.delete(BtpOperator, key);
      expect(await read(cluster, key)).toBeUndefined();
    }
    expect(await cluster.client.get(Deployment, deploymentKey)).toBeUndefined();
  });

  test('without the Secret there is a warning until it is created', async () => {
    await using cluster = await btpCluster(seededCertificates());
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    const waiting = await reaches(cluster, 'MissingSecret');
    expect(waiting.status?.state).toBe('Warning');
    expect(messageIn(waiting)).toBe('sap-btp-manager Secret in kyma-system namespace not found');
    await cluster.client.create(requiredSecret());
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 60_000 });
  });

  test('a Secret without the label is not seen; adding the label is', async () => {
    await using cluster = await btpCluster([requiredSecret({}, {}), ...seededCertificates()]);
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'MissingSecret');
    const labels = { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' };
    await cluster.client.patch(Secret, secretKey, { type: 'merge', body: { metadata: { labels } } });
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 60_000 });
  });

  test('a missing Secret is looked for again after some time', async () => {
    await using cluster = await btpCluster(seededCertificates());
    await cluster.run([btpController({ settings: testSettings(impatient) })]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'MissingSecret');
    const notFound = { status: 404, reason: 'NotFound' };
    const looks = cluster.refuse({ verb: 'get', resource: 'secrets', name: 'sap-btp-manager' }, notFound);
    if (onReference) {
      await cluster.eventually('it looks again, twice', () => looks.hits === 2);
      return;
    }
    await cluster.advance(290_000);
    expect(looks.hits).toBe(0);
    await cluster.advance(20_000);
    expect(looks.hits).toBe(1);
  });

  test('an incomplete Secret is an error that names the keys, until it is updated', async () => {
    const incomplete = requiredSecret({ sm_url: '' });
    delete incomplete.data!['clientid'];
    await using cluster = await btpCluster([incomplete, ...seededCertificates()]);
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    const refused = await reaches(cluster, 'InvalidSecret');
    expect(refused.status?.state).toBe('Error');
    expect(messageIn(refused)).toBe('key(s) clientid not found, missing value(s) for sm_url key(s)');
    expect(await cluster.client.get(Deployment, deploymentKey)).toBeUndefined();
    const data = { clientid: encode('id'), sm_url: encode('https://sm') };
    await cluster.client.patch(Secret, secretKey, { type: 'merge', body: { data } });
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 60_000 });
  });

  test('a PriorityClass that was there before is used as it is: neither adopted nor deleted', async () => {
    const key = { name: 'btp-manager-kyma-priority' };
    const existing = newObject(PriorityClass, { metadata: key, value: 1000, description: 'of somebody else' });
    await using cluster = await btpCluster([requiredSecret(), ...seededCertificates()]);
    const created = await cluster.client.create(existing);
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    expect(await cluster.client.get(PriorityClass, key)).toEqual(created);
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster);
    expect(await cluster.client.get(PriorityClass, key)).toEqual(created);
    await cluster.client.delete(PriorityClass, key);
  });

  test('an object that is to be applied and to be deleted stays, is never deleted, and the log says so', async () => {
    const { folder, data } = await moduleCopy();
    await writeFile(
      join(folder, 'module-resources', 'delete', 'to-delete.yml'),
      [
        'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sap-btp-operator, namespace: kyma-system}',
        'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: sap-btp-operator-manager-role, namespace: kyma-system}',
        'apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: kyma-project.io--btp-operator-to-dns}',
        // The same name elsewhere is another object.
        'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sap-btp-operator, namespace: default}',
      ].join('\n---\n'),
    );
    const elsewhere = { namespace: 'default', name: 'sap-btp-operator' };
    await using cluster = await btpCluster([requiredSecret(), ...seededCertificates()]);
    await cluster.client.create(newObject(ServiceAccount, { metadata: elsewhere }));
    const { logs } = await cluster.run([btpController({ settings: testSettings(data) })]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    expect(cluster.writes.filter((write) => write.startsWith('delete '))).toEqual([
      'delete serviceaccounts sap-btp-operator',
    ]);
    expect(await cluster.client.get(ServiceAccount, elsewhere)).toBeUndefined();
    expect(await cluster.client.get(ServiceAccount, system('sap-btp-operator'))).toBeDefined();
    expect(JSON.stringify(logs)).toContain('ClusterRole sap-btp-operator-manager-role');
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster);
  });

  test('outdated resources are deleted, and it does not matter when they or their kind are gone', async () => {
    const { folder, data } = await moduleCopy();
    const old = (name: string): KubeObject => newObject(ConfigMap, { metadata: system(name) });
    await writeFile(
      join(folder, 'module-resources', 'delete', 'to-delete.yml'),
      [
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old-one, namespace: kyma-system}',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: never-there, namespace: kyma-system}',
        'apiVersion: gone.example.com/v1\nkind: Gone\nmetadata: {name: x, namespace: kyma-system}',
      ].join('\n---\n'),
    );
    await using cluster = await btpCluster([requiredSecret(), ...seededCertificates(), old('old-one'), old('kept')]);
    await cluster.run([btpController({ settings: testSettings(data) })]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    expect(await cluster.client.get(ConfigMap, system('old-one'))).toBeUndefined();
    expect(await cluster.client.get(ConfigMap, system('kept'))).toBeDefined();
  });

  test('labels, credentials, images, certificates and webhooks are as they should be', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    const config = await client.get(ConfigMap, system('sap-btp-operator-config'));
    expect(config?.data).toMatchObject({ CLUSTER_ID: 'cluster-1', RELEASE_NAMESPACE: 'kyma-system' });
    expect(config?.metadata.labels).toMatchObject({
      'app.kubernetes.io/managed-by': 'btp-manager',
      'chart-version': 'v0.11.10',
      'kyma-project.io/module': 'btp-operator',
    });
    const credentials = await client.get(Secret, system('sap-btp-service-operator'));
    expect(decode(credentials?.data?.['clientsecret'])).toBe('the-client-secret');
    expect(decode(credentials?.data?.['tokenurlsuffix'])).toBe('/oauth/token');
    expect(Object.keys(credentials?.data ?? {})).not.toContain('cluster_id');
    const deployment = await client.get(Deployment, deploymentKey);
    expect(deployment?.spec?.template.spec?.containers.map(({ name, image }) => [name, image])).toEqual([
      ['manager', 'operator.example/sap-btp-service-operator:v1'],
    ]);
    const ca = await client.get(Secret, system('ca-server-cert'));
    for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration])
      for await (const { webhooks } of client.list(kind, {
        labelSelector: 'app.kubernetes.io/managed-by=btp-manager',
      })) {
        expect(webhooks).toHaveLength(2);
        for (const webhook of webhooks ?? []) expect(webhook.clientConfig.caBundle).toBe(ca?.data?.['ca.crt']);
      }
    for (const name of ['serviceinstances', 'servicebindings']) {
      const crd = await client.get(CustomResourceDefinition, { name: `${name}.services.cloud.sap.com` });
      expect(isConditionTrue(crd, 'Established')).toBe(true);
    }
  });

  test('resources are applied under our name, and fields of others survive', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    const account = system('sap-btp-operator');
    const entry = (await client.get(ServiceAccount, account))?.metadata.managedFields?.find(
      ({ manager }) => manager === 'btp-manager',
    );
    expect(entry?.operation).toBe('Apply');
    await client.patch(ServiceAccount, account, {
      type: 'merge',
      body: { metadata: { labels: { mine: 'yes', 'chart-version': 'wrong' } } },
    });
    await cluster.eventually(
      'our label is right again',
      async () => (await client.get(ServiceAccount, account))?.metadata.labels?.['chart-version'] === 'v0.11.10',
      { withinMs: 5_000 },
    );
    expect((await client.get(ServiceAccount, account))?.metadata.labels?.['mine']).toBe('yes');
  });

  test('what is not ready in time is an error, and is looked at again', async () => {
    // Without controllers no Deployment becomes available by itself.
    await using cluster = await btpCluster(undefined, { controllers: 'core' });
    const settings = testSettings(onReference ? { ReadyTimeout: '3s', ReadyCheckInterval: '1s' } : {});
    await cluster.run([btpController({ settings })]);
    await cluster.client.create(btpOperator());
    const waiting = await cluster.eventually('it says what it waits for', async () => {
      const found = await read(cluster);
      return found?.status?.waitingSince ? found : undefined;
    });
    expect(waiting.status?.state).toBe('Processing');
    const failed = await reaches(cluster, 'ProvisioningFailed', { withinMs: 310_000 });
    expect(failed.status?.state).toBe('Error');
    expect(failed.status).not.toHaveProperty('waitingSince');
    expect(messageIn(failed)).toContain('timed out while waiting for resources readiness: Deployment ');
    if (cluster.embedded) {
      const waited = Date.parse(waiting.status!.waitingSince!);
      expect(cluster.clock.now() - waited).toBeGreaterThanOrEqual(300_000);
      // The real Deployment controller would take this back at once.
      await makeAvailable(cluster);
      await reaches(cluster, 'ReconcileSucceeded', { withinMs: 310_000 });
    }
  });

  test('a ready module is left in peace: a second look asks for no write', async () => {
    await using cluster = await readyCluster();
    const made = [...cluster.writes];
    await settle(cluster);
    const before = await read(cluster);
    const revision = cluster.embedded?.revision;
    // Something it has to look at, and then time.
    const body = { metadata: { labels: { wakes: 'the-manager' } } };
    await cluster.client.patch(Secret, secretKey, { type: 'merge', body });
    await cluster.advance(onReference ? 1000 : 46 * 60_000);
    expect(await read(cluster)).toEqual(before);
    if (revision !== undefined) expect(cluster.embedded!.revision).toBe(revision + 1);
    expect(cluster.writes.slice(made.length)).toEqual([]);
    // Not even on the way: nothing was asked to be written twice.
    expect(made.filter((write, index) => made.indexOf(write) !== index)).toEqual([]);
  });

  test('a manager that starts over asks for no write either', async () => {
    await using cluster = await readyCluster();
    await settle(cluster);
    await cluster.manager.stop();
    const made = cluster.writes.length;
    await cluster.run([btpController()]);
    await cluster.advance(onReference ? 3000 : 60_000);
    expect(cluster.writes.slice(made)).toEqual([]);
  });
});

describe('drift', () => {
  const repaired = async (cluster: TestCluster, what: string, check: () => Promise<boolean>) =>
    await cluster.eventually(what, check, { withinMs: 20_000 });

  test('deleted and changed resources come back at once', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.delete(Deployment, deploymentKey);
    await repaired(cluster, 'the Deployment is back', async () => !!(await client.get(Deployment, deploymentKey)));
    await client.delete(ClusterRole, { name: 'sap-btp-operator-manager-role' });
    await repaired(
      cluster,
      'the ClusterRole is back',
      async () => !!(await client.get(ClusterRole, { name: 'sap-btp-operator-manager-role' })),
    );
    const key = { name: 'sap-btp-operator-validating-webhook-configuration' };
    const found = await client.get(ValidatingWebhookConfiguration, key);
    const caBundle = found!.webhooks![0]!.clientConfig.caBundle;
    await client.patch(ValidatingWebhookConfiguration, key, {
      type: 'json',
      operations: [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: encode('no certificate') }],
    });
    await repaired(cluster, 'the caBundle is right again', async () => {
      const now = await client.get(ValidatingWebhookConfiguration, key);
      return now?.webhooks?.[0]?.clientConfig.caBundle === caBundle;
    });
    const config = system('sap-btp-operator-config');
    await client.patch(ConfigMap, config, { type: 'merge', body: { data: { CLUSTER_ID: 'evil' } } });
    await repaired(
      cluster,
      'the ConfigMap is right again',
      async () => (await client.get(ConfigMap, config))?.data?.['CLUSTER_ID'] === 'cluster-1',
    );
    await reaches(cluster, ['ReconcileSucceeded'], { withinMs: 400_000 });
  });

  test('network policies come with the module and go when the annotation says so', async () => {
    await using cluster = await readyCluster({}, [
      requiredSecret(),
      ...seededCertificates(),
      newObject(NetworkPolicy, {
        metadata: system('kyma-project.io--btp-operator-allow-to-webhook'),
        spec: { podSelector: {} },
      }),
      newObject(NetworkPolicy, { metadata: system('of-the-user'), spec: { podSelector: {} } }),
    ]);
    const policies = async () => {
      const found: string[] = [];
      for await (const { metadata } of cluster.client.list(NetworkPolicy)) found.push(metadata.name!);
      return found.sort();
    };
    const ours = [
      'kyma-project.io--allow-btp-operator-metrics',
      'kyma-project.io--allow-btp-operator-webhook',
      'kyma-project.io--btp-operator-allow-to-apiserver',
      'kyma-project.io--btp-operator-to-dns',
    ];
    expect(await policies()).toEqual([...ours, 'of-the-user']);
    const annotate = (value: string | null) =>
      cluster.client.patch(BtpOperator, primary, {
        type: 'merge',
        body: {
          metadata: { annotations: { 'operator.kyma-project.io/btp-operator-disable-network-policies': value } },
        },
      });
    await annotate('TRUE');
    await repaired(cluster, 'our policies are gone', async () => (await policies()).join() === 'of-the-user');
    await annotate('no');
    await repaired(cluster, 'our policies are back', async () => (await policies()).length === 5);
    await cluster.client.delete(NetworkPolicy, system(ours[0]!));
    await repaired(cluster, 'a deleted policy is back', async () => (await policies()).length === 5);
  });
});

/** What the Deployment controller would say. */
async function makeAvailable(cluster: TestCluster): Promise<void> {
  const deployment = await cluster.eventually('the Deployment exists', () =>
    cluster.client.get(Deployment, deploymentKey),
  );
  const at = { lastUpdateTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z' };
  await cluster.client.patch(
    Deployment,
    deploymentKey,
    {
      type: 'merge',
      body: {
        status: {
          observedGeneration: deployment.metadata.generation,
          replicas: 1,
          updatedReplicas: 1,
          readyReplicas: 1,
          availableReplicas: 1,
          conditions: [
            { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: '', ...at },
            { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: '', ...at },
          ],
        },
      },
    },
    { subresource: 'status' },
  );
}

/** Lets the manager look once more: its own last writes wake it. */
async function settle(cluster: TestCluster): Promise<void> {
  await cluster.advance(onReference ? 1000 : 60_000);
  expect(reasonIn(await read(cluster))).toBe('ReconcileSucceeded');
}
