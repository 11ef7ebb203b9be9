import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Event,
  MutatingWebhookConfiguration,
  newObject,
  Secret,
  ValidatingWebhookConfiguration,
  type Kind,
} from '@slipway/kube';
import { onReference, snapshotCluster, type TestCluster, skipped } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator, ServiceBinding, ServiceInstance, type ServiceResource } from '../src/api.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  encode,
  held,
  impatient,
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
  serviceBinding,
  serviceInstance,
  testSettings,
  watchReasons,
} from './kit.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });
const minute = 60_000;

const force = (cluster: TestCluster) =>
  cluster.client.patch(BtpOperator, primary, {
    type: 'merge',
    body: { metadata: { labels: { 'force-delete': 'true' } } },
  });

async function release(cluster: TestCluster, kind: Kind<ServiceResource>, name: string): Promise<void> {
  const body = { metadata: { finalizers: null } };
  await cluster.client.patch(kind, { namespace: 'default', name }, { type: 'merge', body });
}

const embeddedOnly = skipped(
  onReference,
  'on the real API server: limits of twenty minutes and faults of the server, which need virtual time and the embedded one',
);

describe('deprovisioning, step by step', () => {
  test('everything of the module goes, nothing else does', async () => {
    const foreign = newObject(ConfigMap, { metadata: system('of-the-user'), data: { a: 'b' } });
    await using cluster = await btpCluster([requiredSecret(), foreign]);
    // Making keys is part of it here: the certificates of this test are the manager's own.
    const before = await snapshotCluster(cluster.client);
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    expect(Object.keys(await snapshotCluster(cluster.client)).length).toBeGreaterThan(Object.keys(before).length + 18);
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster, minute);
    // Pods and replica sets go with their Deployment, when the garbage collector gets to them.
    await cluster.eventually('the cluster is as before', async () => {
      expect(await snapshotCluster(cluster.client)).toEqual(before);
      return true;
    });
  });

  test('instances and bindings block the deletion, with live counts', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one'));
    await client.create(serviceInstance('two'));
    await client.create(serviceBinding('three'));
    await client.delete(BtpOperator, primary);
    const blocked = await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    expect(blocked.status?.state).toBe('Warning');
    expect(messageIn(blocked)).toBe(
      'All service instances and bindings must be removed: 2 instance(s) and 1 binding(s)',
    );
    expect(await client.get(ServiceInstance, { namespace: 'default', name: 'one' })).toBeDefined();
    expect(await client.get(Deployment, system('sap-btp-operator-controller-manager'))).toBeDefined();
    await client.delete(ServiceInstance, { namespace: 'default', name: 'one' });
    await cluster.eventually(
      'the count falls',
      async () => messageIn(await read(cluster))?.includes('1 instance(s) and 1 binding(s)'),
      { withinMs: 10_000 },
    );
    await client.delete(ServiceInstance, { namespace: 'default', name: 'two' });
    await client.delete(ServiceBinding, { namespace: 'default', name: 'three' });
    // At once: long before the interval of fifteen minutes.
    await isGone(cluster, 20_000);
  });

  test('force-delete deletes them; other values of the label do not', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one'));
    await client.create(serviceBinding('two'));
    await client.patch(BtpOperator, primary, {
      type: 'merge',
      body: { metadata: { labels: { 'force-delete': 'yes' } } },
    });
    await client.delete(BtpOperator, primary);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    await force(cluster);
    await isGone(cluster, minute);
    if (seen) expect(seen).toEqual(['Warning/ServiceInstancesAndBindingsNotCleaned', 'Deleting/HardDeleting']);
  });

  test('hard delete waits for what the service operator still holds', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one', held));
    await client.create(serviceBinding('two', held));
    await force(cluster);
    await client.delete(BtpOperator, primary);
    const deleting = await cluster.eventually('hard delete has begun', async () => {
      const found = await read(cluster);
      return found?.status?.hardDeleteStartedAt ? found : undefined;
    });
    expect(reasonIn(deleting)).toBe('HardDeleting');
    for (const [kind, name] of [
      [ServiceInstance, 'one'],
      [ServiceBinding, 'two'],
    ] as const)
      await cluster.eventually(
        `${name} is being deleted`,
        async () => (await client.get(kind, { namespace: 'default', name }))?.metadata.deletionTimestamp,
        { withinMs: 10_000 },
      );
    await release(cluster, ServiceBinding, 'two');
    await release(cluster, ServiceInstance, 'one');
    await isGone(cluster, 20_000);
  });

  test('after twenty minutes it becomes a soft delete', async () => {
    const limit = onReference ? 3000 : 20 * minute;
    const settings = testSettings({
      HardDeleteTimeout: `${limit}ms`,
      ...(onReference && { HardDeleteCheckInterval: '1s' }),
    });
    await using cluster = await readyCluster({ settings });
    const { client, clock } = cluster;
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    await client.create(serviceInstance('one', held));
    await force(cluster);
    const begun = clock.now();
    await client.delete(BtpOperator, primary);
    await cluster.advance(0.95 * limit);
    expect(reasonIn(await read(cluster))).toBe('HardDeleting');
    await isGone(cluster, 2 * minute);
    expect(clock.now() - begun).toBeGreaterThanOrEqual(limit);
    if (!seen) return;
    expect(clock.now() - begun).toBeLessThan(limit + 0.5 * minute);
    expect(seen).toEqual(['Ready/ReconcileSucceeded', 'Deleting/HardDeleting', 'Deleting/SoftDeleting']);
  });

  const limit = onReference ? 6000 : 20 * minute;

  /** A forced deletion that has been waiting for half its time. */
  const waitingForHalfTheTime = async () => {
    const settings = testSettings({
      HardDeleteTimeout: `${limit}ms`,
      ...(onReference && { HardDeleteCheckInterval: '500ms' }),
    });
    const cluster = await readyCluster({ settings });
    await cluster.client.create(serviceInstance('one', held));
    await force(cluster);
    await cluster.client.delete(BtpOperator, primary);
    await cluster.eventually('hard delete has begun', () => beganMs(cluster));
    await cluster.advance(limit / 2);
    return { cluster, settings };
  };

  const beganMs = async (cluster: TestCluster) => Date.parse((await read(cluster))?.status?.hardDeleteStartedAt ?? '');

  /** From now on nobody looks, for longer than the time limit, until `comeBack`: that must not count. */
  const expectToStandStill = async (cluster: TestCluster, comeBack: () => unknown): Promise<void> => {
    const before = await beganMs(cluster);
    await cluster.advance(1.5 * limit);
    await comeBack();
    const moved = await cluster.eventually('the manager looks again', async () => (await beganMs(cluster)) - before);
    expect(moved).toBeGreaterThanOrEqual(1.5 * limit);
    if (!onReference) {
      await cluster.advance(0.4 * limit);
      expect(reasonIn(await read(cluster))).toBe('HardDeleting');
    }
    await isGone(cluster, limit);
  };

  test('the time limit of the hard delete stands still while the API server is out of reach', async () => {
    const { cluster } = await waitingForHalfTheTime();
    await using _disposed = cluster;
    const outage = cluster.refuse({}, { status: 503, reason: 'ServiceUnavailable' });
    await expectToStandStill(cluster, () => outage.remove());
  });

  test('it stands still, too, while no manager runs', async () => {
    const { cluster, settings } = await waitingForHalfTheTime();
    await using _disposed = cluster;
    await cluster.manager.stop();
    await expectToStandStill(cluster, () => cluster.run([btpController({ settings })]));
  });

  test.skipIf(embeddedOnly)('waiting for the hard delete writes a note once a minute, not at every look', async () => {
    const { cluster } = await waitingForHalfTheTime();
    await using _disposed = cluster;
    let writes = 0;
    cluster.embedded!.observe(({ storageId }) => {
      if (storageId === 'btpoperators.operator.kyma-project.io') writes += 1;
    });
    await cluster.advance(5 * minute);
    expect(writes).toBeLessThanOrEqual(6);
  });

  test('a deletion that is refused, because the webhook cannot be called, becomes a soft delete at once', async () => {
    // Nothing listens behind the Service of the webhooks.
    const { folder, data } = await moduleCopy();
    const file = join(folder, 'module-resources', 'apply', 'webhooks.yml');
    const [mutating, validating] = (await readFile(file, 'utf8')).split(/^---$/m);
    const onDelete = validating!
      .replaceAll('CREATE, UPDATE, DELETE', 'DELETE')
      .replaceAll(/^ +objectSelector.*\n(?=[^]*serviceinstances)/gm, '')
      .replaceAll(/^( +)failurePolicy/gm, '$1timeoutSeconds: 1\n$1failurePolicy');
    await writeFile(file, [mutating, onDelete].join('---'));
    await using cluster = await readyCluster({ settings: testSettings(data) });
    const { client } = cluster;
    await client.create(serviceInstance('one', held));
    await force(cluster);
    await client.delete(BtpOperator, primary);
    await isGone(cluster, minute);
    const told = await cluster.eventually('an event tells why', async () => {
      const events = await client.listPage(Event, { namespace: 'kyma-system' });
      return events.items.find(({ reason }) => reason === 'SoftDeleting');
    });
    expect(told.note).toContain('failed calling webhook');
  });

  test('soft delete removes operator, webhooks, finalizers and the Secrets of bindings', async () => {
    await using cluster = await readyCluster({ settings: testSettings({ HardDeleteTimeout: '0s' }) });
    const { client } = cluster;
    const order: string[] = [];
    cluster.embedded?.observe(({ type, object, previous }) => {
      const { kind, metadata } = object as unknown as { kind: string; metadata: { finalizers?: string[] } };
      const hadFinalizers = !!(previous as { metadata?: { finalizers?: string[] } } | undefined)?.metadata?.finalizers;
      if (type === 'DELETED' || (hadFinalizers && !metadata.finalizers)) order.push(kind);
    });
    const secret = (name: string) =>
      newObject(Secret, { metadata: { namespace: 'default', name }, data: { password: encode('x') } });
    await client.create(serviceInstance('instance', held));
    await client.create(serviceBinding('binding', held, { secretName: 'chosen-name' }));
    await client.create(serviceBinding('plain', held));
    for (const name of ['chosen-name', 'plain', 'binding', 'unrelated']) await client.create(secret(name));
    await force(cluster);
    await client.delete(BtpOperator, primary);
    await isGone(cluster, 5 * minute);
    for (const name of ['chosen-name', 'plain'])
      expect(await client.get(Secret, { namespace: 'default', name })).toBeUndefined();
    // A Secret that merely has the name of a binding with another secretName is nobody's business.
    for (const name of ['binding', 'unrelated'])
      expect(await client.get(Secret, { namespace: 'default', name })).toBeDefined();
    if (cluster.embedded) {
      const first = (kind: string) => order.indexOf(kind);
      expect(first('Deployment')).toBeLessThan(first('ServiceBinding'));
      expect(first('MutatingWebhookConfiguration')).toBeLessThan(first('ServiceBinding'));
      expect(first('ValidatingWebhookConfiguration')).toBeLessThan(first('ServiceBinding'));
      expect(first('ServiceBinding')).toBeLessThan(first('ServiceInstance'));
      expect(first('ServiceInstance')).toBeLessThan(first('CustomResourceDefinition'));
    }
  });

  test('a soft-delete step that fails is tried again', async () => {
    await using cluster = await readyCluster({ settings: testSettings({ HardDeleteTimeout: '0s' }) });
    const { client } = cluster;
    await client.create(serviceInstance('one', held));
    const fault = cluster.refuse({ verb: 'patch', resource: 'serviceinstances' });
    await force(cluster);
    await client.delete(BtpOperator, primary);
    await cluster.eventually(
      'the failure shows',
      async () => messageIn(await read(cluster)) === 'Being soft deleted: no',
    );
    expect((await read(cluster))?.status?.state).toBe('Deleting');
    fault.remove();
    await isGone(cluster, 20 * minute);
  });

  test('what does not go is an error that names it, and the deletion goes on when it does', async () => {
    await using cluster = await readyCluster({ settings: testSettings({ DeleteRequestTimeout: '3s' }) });
    const { client } = cluster;
    const key = system('sap-btp-operator-config');
    const hold = (finalizers: string[] | null) =>
      client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers } } });
    await hold(['example.com/stubborn']);
    await client.delete(BtpOperator, primary);
    const failed = await reaches(cluster, 'ResourceRemovalFailed');
    expect(failed.status?.state).toBe('Error');
    expect(messageIn(failed)).toBe(
      'Unable to remove installed resources: ConfigMap sap-btp-operator-config (finalizers: example.com/stubborn)',
    );
    await hold(null);
    await isGone(cluster, 5_000);
  });

  test('a removal that is refused is an error that says so, and is tried again', async () => {
    await using cluster = await readyCluster({ settings: testSettings(impatient) });
    const fault = cluster.refuse({ verb: 'deletecollection', resource: 'services' });
    await cluster.client.delete(BtpOperator, primary);
    const failed = await reaches(cluster, 'ResourceRemovalFailed');
    expect(failed.status?.state).toBe('Error');
    expect(messageIn(failed)).toBe('Unable to remove installed resources: no');
    fault.remove();
    await isGone(cluster, 10 * minute);
  });

  test('a custom credentials namespace is cleaned up too', async () => {
    await using cluster = await btpCluster([
      namespace('creds'),
      requiredSecret({ credentials_namespace: 'creds' }),
      ...seededCertificates(),
    ]);
    const { client } = cluster;
    await cluster.run([btpController()]);
    await client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    const key = { namespace: 'creds', name: 'sap-btp-service-operator' };
    expect(await client.get(Secret, key)).toBeDefined();
    await client.create(
      newObject(Secret, {
        metadata: { namespace: 'creds', name: 'sap-btp-operator-clusterid' },
        data: { INITIAL_CLUSTER_ID: encode('cluster-1') },
      }),
    );
    await client.delete(BtpOperator, primary);
    await isGone(cluster, minute);
    expect(await client.get(Secret, key)).toBeUndefined();
    expect(await client.get(Secret, { namespace: 'creds', name: 'sap-btp-operator-clusterid' })).toBeUndefined();
  });

  test('the inputs of the user stay, whatever their label', async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'btp-manager' };
    await using cluster = await btpCluster([
      requiredSecret({}, labels),
      newObject(ConfigMap, { metadata: { ...system('sap-btp-manager'), labels }, data: { ReadyTimeout: '4m' } }),
      ...seededCertificates(),
    ]);
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster, minute);
    expect(await cluster.client.get(Secret, system('sap-btp-manager'))).toBeDefined();
    expect(await cluster.client.get(ConfigMap, system('sap-btp-manager'))).toBeDefined();
  });

  test('a module that never became ready can be deleted', async () => {
    await using cluster = await btpCluster([]);
    await cluster.run([btpController()]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'MissingSecret');
    await cluster.client.delete(BtpOperator, primary);
    await isGone(cluster, minute);
  });
});

describe('defects of the original', () => {
  test('the last instance to go resumes the deletion at once, also after a restart', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one'));
    await client.delete(BtpOperator, primary);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    await cluster.manager.stop();
    await cluster.run([btpController()]);
    await cluster.advance(onReference ? 500 : minute);
    await client.delete(ServiceInstance, { namespace: 'default', name: 'one' });
    await isGone(cluster, 20_000);
  });

  test.skipIf(embeddedOnly)('an unblocked deletion never leaves the module behind', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one'));
    await client.delete(BtpOperator, primary);
    // The instance goes while the blocked pass is under way: right after it was counted.
    let done = false;
    cluster.embedded!.intercept(async ({ verb, resource }, phase) => {
      if (done || phase !== 'after' || verb !== 'list' || resource?.plural !== 'serviceinstances') return;
      done = true;
      await client.delete(ServiceInstance, { namespace: 'default', name: 'one' });
    });
    await isGone(cluster, minute);
    expect(done).toBe(true);
    for (const [kind, key] of [
      [Deployment, system('sap-btp-operator-controller-manager')],
      [CustomResourceDefinition, { name: 'serviceinstances.services.cloud.sap.com' }],
      [MutatingWebhookConfiguration, { name: 'sap-btp-operator-mutating-webhook-configuration' }],
      [ValidatingWebhookConfiguration, { name: 'sap-btp-operator-validating-webhook-configuration' }],
    ] as const)
      expect(await client.get(kind as Kind, key)).toBeUndefined();
  });

  test('the counts in the message follow what is there', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one'));
    await client.create(serviceInstance('two'));
    await client.delete(BtpOperator, primary);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    await client.delete(ServiceInstance, { namespace: 'default', name: 'two' });
    await cluster.eventually(
      'the message says one',
      async () => messageIn(await read(cluster))?.includes('1 instance(s) and 0 binding(s)'),
      { withinMs: 10_000 },
    );
  });

  test('a Secret of a binding that belongs to somebody else stays', async () => {
    await using cluster = await readyCluster({ settings: testSettings({ HardDeleteTimeout: '0s' }) });
    const { client } = cluster;
    const owner = await client.create(
      newObject(ConfigMap, { metadata: { namespace: 'default', name: 'the-real-owner' } }),
    );
    const { name, uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: name!, uid: uid!, controller: true }];
    await client.create(
      newObject(Secret, { metadata: { namespace: 'default', name: 'shared', ownerReferences }, data: {} }),
    );
    await client.create(serviceBinding('two', held, { secretName: 'shared' }));
    await force(cluster);
    await client.delete(BtpOperator, primary);
    await isGone(cluster, 5 * minute);
    expect(await client.get(Secret, { namespace: 'default', name: 'shared' })).toBeDefined();
  });

  test.skipIf(embeddedOnly)('soft delete succeeds on its first pass', async () => {
    await using cluster = await readyCluster({ settings: testSettings({ HardDeleteTimeout: '0s' }) });
    const { client } = cluster;
    for (const index of [1, 2, 3]) {
      await client.create(serviceInstance(`instance-${index}`, held));
      await client.create(serviceBinding(`binding-${index}`, held));
    }
    let installed = 0;
    cluster.embedded!.observe(({ type, object }) => {
      if (type === 'ADDED' && (object as { kind?: string }).kind === 'Deployment') installed += 1;
    });
    await force(cluster);
    await client.delete(BtpOperator, primary);
    await isGone(cluster, 10_000);
    expect(installed).toBe(0);
    expect(cluster.manager.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('a hiccup of the server does not turn a hard delete into a soft one', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one', held));
    for (const status of [409, 503])
      cluster.refuse({ verb: 'deletecollection', resource: 'serviceinstances', times: 1 }, { status });
    await force(cluster);
    await client.delete(BtpOperator, primary);
    await cluster.eventually('the instance is being deleted', async () => {
      const instance = await client.get(ServiceInstance, { namespace: 'default', name: 'one' });
      return instance?.metadata.deletionTimestamp !== undefined;
    });
    expect(reasonIn(await read(cluster))).toBe('HardDeleting');
  });

  test('a status write that is refused as a conflict is tried again', async () => {
    await using cluster = await readyCluster();
    const fault = cluster.refuse(
      { verb: 'patch', resource: 'btpoperators/status', times: 1 },
      { status: 409, reason: 'Conflict' },
    );
    await cluster.client.create(serviceInstance('one'));
    await cluster.client.delete(BtpOperator, primary);
    await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned', { withinMs: 10_000 });
    expect(fault.hits).toBe(1);
  });

  test('a terminating CR held by others gets no finalizer, and says what it waits for', async () => {
    await using cluster = await btpCluster();
    await cluster.client.create(btpOperator({ finalizers: ['example.com/other'] }));
    await cluster.client.delete(BtpOperator, primary);
    await cluster.run([btpController()]);
    const final = await reaches(cluster, 'Processing');
    expect(final.status?.state).toBe('Processing');
    expect(final.metadata.finalizers).toEqual(['example.com/other']);
    expect(messageIn(final)).toBe('the module is removed; the object waits for example.com/other');
  });

  test('a hard delete under way does not keep other objects waiting', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one', held));
    await force(cluster);
    await client.delete(BtpOperator, primary);
    await cluster.advance(onReference ? 1000 : minute);
    expect(reasonIn(await read(cluster))).toBe('HardDeleting');
    const key = { namespace: 'default', name: 'other' };
    await client.create(btpOperator(key));
    await reaches(cluster, 'WrongNamespaceOrName', { key, withinMs: 1000 });
  });

  test.skipIf(embeddedOnly)('the twenty minutes go on over a restart', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    await client.create(serviceInstance('one', held));
    await force(cluster);
    await client.delete(BtpOperator, primary);
    await cluster.advance(15 * minute);
    await cluster.manager.stop();
    await cluster.run([btpController()]);
    await cluster.advance(4 * minute);
    expect(reasonIn(await read(cluster))).toBe('HardDeleting');
    await isGone(cluster, 2 * minute);
  });

  test.skipIf(embeddedOnly)('an instance that appears at the last moment keeps its definition', async () => {
    await using cluster = await readyCluster();
    const { client } = cluster;
    let done = false;
    cluster.embedded!.intercept(async ({ verb, resource }, phase) => {
      if (done || phase !== 'before' || verb !== 'deletecollection' || resource?.plural !== 'services') return;
      done = true;
      await client.create(serviceInstance('late'));
    });
    await client.delete(BtpOperator, primary);
    const blocked = await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
    expect(messageIn(blocked)).toContain('1 instance(s)');
    await cluster.eventually('the service operator is back', () =>
      client.get(Deployment, system('sap-btp-operator-controller-manager')),
    );
    await client.delete(ServiceInstance, { namespace: 'default', name: 'late' });
    await isGone(cluster, 30_000);
  });
});
