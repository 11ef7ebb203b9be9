import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  newObject,
  Secret,
  type KubeObject,
} from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator, ServiceInstance } from '../src/api.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  encode,
  impatient,
  isGone,
  messageIn,
  namespace,
  primary,
  reaches,
  requiredSecret,
  seededCertificates,
  serviceInstance,
  testSettings,
} from './kit.ts';
import { passedReasons } from './passed-reasons.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });
const credentials = (where: string) => ({ namespace: where, name: 'sap-btp-service-operator' });
const settings = testSettings({ ...impatient });

async function installed(objects: readonly KubeObject[] = [], data: Record<string, string> = {}, unshared = false) {
  const cluster = await btpCluster([requiredSecret(data), ...seededCertificates(), ...objects], { unshared });
  const manager = await cluster.run([btpController({ settings })]);
  await cluster.client.create(btpOperator());
  await reaches(cluster, 'ReconcileSucceeded');
  return { ...cluster, manager };
}

async function namespaceIsGone(cluster: TestCluster, name: string): Promise<void> {
  await cluster.eventually(`namespace ${name} is gone`, async () => !(await cluster.client.get(Namespace, { name })));
}

const settingsMap = (data: Record<string, string>) =>
  newObject(ConfigMap, {
    metadata: {
      ...system('sap-btp-manager'),
      labels: { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' },
    },
    data,
  });

describe('a namespace that is deleted', () => {
  test('with the module in it goes, and takes the module along', async () => {
    await using cluster = await installed([], {}, true);
    await cluster.client.delete(Namespace, { name: 'kyma-system' });
    await namespaceIsGone(cluster, 'kyma-system');
    expect(
      await cluster.client.get(CustomResourceDefinition, { name: 'serviceinstances.services.cloud.sap.com' }),
    ).toBeUndefined();
  });

  test('with the credentials in it is named; made again, they come back', async () => {
    await using cluster = await installed([namespace('creds')], { credentials_namespace: 'creds' });
    const { client } = cluster;
    expect(await client.get(Secret, credentials('creds'))).toBeDefined();
    const passed = await passedReasons(cluster);
    await client.delete(Namespace, { name: 'creds' });
    await namespaceIsGone(cluster, 'creds');
    expect(messageIn(await passed.had('ReconcileFailed'))).toContain('creds');
    await client.create(namespace('creds'));
    await cluster.eventually('the credentials are back', () => client.get(Secret, credentials('creds')));
    await reaches(cluster, 'ReconcileSucceeded');
    await client.delete(Namespace, { name: 'creds' });
    await client.delete(BtpOperator, primary);
    await isGone(cluster);
  });
});

describe('the definition of the BtpOperator', () => {
  test('that is deleted takes the module along, and waits for its instances', async () => {
    await using cluster = await installed([], {}, true);
    const { client } = cluster;
    await client.create(serviceInstance('one'));
    const definition = { name: 'btpoperators.operator.kyma-project.io' };
    await client.delete(CustomResourceDefinition, definition);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    await client.delete(ServiceInstance, { namespace: 'default', name: 'one' });
    await cluster.eventually(
      'the definition is gone',
      async () => !(await client.get(CustomResourceDefinition, definition)),
    );
    expect(await client.get(Deployment, system('sap-btp-operator-controller-manager'))).toBeUndefined();
  });
});

describe('a Secret that gets another name in the settings while the module is removed', () => {
  test('stays, like the one it replaces, and the credentials go wherever they were', async () => {
    await using cluster = await installed([namespace('creds')], { credentials_namespace: 'creds' });
    const { client } = cluster;
    await client.create(serviceInstance('one'));
    await client.delete(BtpOperator, primary);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    const renamed = requiredSecret({ clientid: 'another' });
    await client.create({
      ...renamed,
      metadata: { ...renamed.metadata, name: 'mine', labels: { 'app.kubernetes.io/managed-by': 'btp-manager' } },
    });
    await client.create(settingsMap({ SecretName: 'mine' }));
    await client.delete(ServiceInstance, { namespace: 'default', name: 'one' });
    await isGone(cluster);
    expect(await client.get(Secret, system('mine'))).toBeDefined();
    expect(await client.get(Secret, system('sap-btp-manager'))).toBeDefined();
    for (const where of ['creds', 'kyma-system']) expect(await client.get(Secret, credentials(where))).toBeUndefined();
  });

  test('and one that loses it again stays, although it bears the label of the manager', async () => {
    const mine = requiredSecret({}, { 'app.kubernetes.io/managed-by': 'btp-manager' });
    await using cluster = await btpCluster([
      { ...mine, metadata: { ...mine.metadata, name: 'mine' } } as KubeObject,
      settingsMap({ SecretName: 'mine' }),
      ...seededCertificates(),
    ]);
    const { client } = cluster;
    await cluster.run([btpController({ settings })]);
    await client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    await client.create(serviceInstance('one'));
    await client.delete(BtpOperator, primary);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    await client.delete(ConfigMap, system('sap-btp-manager'));
    await client.delete(ServiceInstance, { namespace: 'default', name: 'one' });
    await isGone(cluster);
    expect(await client.get(Secret, system('mine'))).toBeDefined();
  });
});

test('the cluster id and credentials come back when both are edited at once and the manager is down', async () => {
  await using cluster = await installed();
  const { client, manager } = cluster;
  await manager.stop();
  await client.delete(Secret, credentials('kyma-system'));
  await client.patch(ConfigMap, system('sap-btp-operator-config'), {
    type: 'merge',
    body: { data: { CLUSTER_ID: 'x', MANAGEMENT_NAMESPACE: 'elsewhere' } },
  });
  await client.patch(Secret, system('sap-btp-manager'), {
    type: 'merge',
    body: { data: { cluster_id: encode('cluster-9') } },
  });
  await cluster.run([btpController({ settings })]);
  await cluster.eventually('all is as wanted', async () => {
    const found = await client.get(ConfigMap, system('sap-btp-operator-config'));
    expect(found?.data).toMatchObject({ CLUSTER_ID: 'cluster-9', MANAGEMENT_NAMESPACE: 'kyma-system' });
    return await client.get(Secret, credentials('kyma-system'));
  });
});
