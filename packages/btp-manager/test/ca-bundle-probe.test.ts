import { ConfigMap, Job, newObject, Pod, Role, RoleBinding, ServiceAccount, type Kind } from '@slipway/kube';
import { onReference, type TestCluster, skipped } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { BtpOperator } from '../src/api.ts';
import { caBundleProbeController } from '../src/ca-bundle-probe/controller.ts';
import { btpCluster, btpController, btpOperator, primary, reaches, read, testSettings } from './kit.ts';

const job = { namespace: 'kyma-system', name: 'btp-manager-ca-bundle-probe' };
const minute = 60_000;

/** What the probe would do: write what it found, then end. */
async function probeFinds(cluster: TestCluster, found: Record<string, string>): Promise<void> {
  const { client, clock } = cluster;
  const annotations = { ...found, 'tls-probe-updated-at': String(clock.now()) };
  await client.patch(BtpOperator, primary, { type: 'merge', body: { metadata: { annotations } } });
}

const jobUid = async (cluster: TestCluster) => (await cluster.client.get(Job, job))?.metadata.uid;

async function nextJob(cluster: TestCluster, before: string | undefined): Promise<string> {
  return await cluster.eventually('there is a new Job', async () => {
    const uid = await jobUid(cluster);
    return uid !== before ? uid : undefined;
  });
}

const podUids = async ({ client }: TestCluster) => {
  const labelSelector = { 'app.kubernetes.io/instance': 'sap-btp-operator' };
  const { items } = await client.listPage(Pod, { namespace: 'kyma-system', labelSelector });
  return items.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.uid);
};

const embeddedOnly = skipped(
  onReference,
  'on the real API server: intervals of hours, and what the garbage collector removes in its own time',
);

describe('the CA bundle probe', () => {
  async function start() {
    const cluster = await btpCluster();
    const settings = testSettings();
    const manager = await cluster.run([btpController(), caBundleProbeController({ image: 'probe:1', settings })]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded');
    return { cluster, manager };
  }

  // Hours, which only virtual time has.
  test.skipIf(embeddedOnly)(
    'runs once per interval and restarts the service operator when a working bundle changed',
    async () => {
      const { cluster, manager } = await start();
      await using _cluster = cluster;
      const first = await nextJob(cluster, undefined);
      const created = await cluster.client.get(Job, job);
      expect(created?.spec?.template.spec).toMatchObject({
        restartPolicy: 'Never',
        serviceAccountName: 'btp-manager-ca-bundle-probe',
        containers: [{ name: 'probe', image: 'probe:1', env: [{ name: 'PROBE_NAMESPACE', value: 'kyma-system' }] }],
      });
      const role = await cluster.client.get(Role, job);
      expect(role?.rules).toContainEqual({
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['sap-btp-manager'],
        verbs: ['get'],
      });
      const pods = await podUids(cluster);
      await probeFinds(cluster, { 'tls-probe-status': 'ok', 'tls-probe-hash': 'hash-1' });
      await cluster.eventually('the hash is noted', async () => {
        return (await read(cluster))?.metadata.annotations?.['tls-probe-last-hash'] === 'hash-1';
      });
      expect(await podUids(cluster)).toEqual(pods);

      const second = await nextJob(cluster, first);
      expect(Date.parse((await cluster.client.get(Job, job))!.metadata.creationTimestamp!)).toBeGreaterThanOrEqual(
        Date.parse(created!.metadata.creationTimestamp!) + 60 * minute,
      );
      await probeFinds(cluster, { 'tls-probe-status': 'alert', 'tls-probe-hash': 'hash-2' });
      await cluster.eventually('the alert is counted', async () =>
        /^btpmanager_credential_probe_status 1$/m.test(await manager.manager.registry.metrics()),
      );
      expect(await podUids(cluster)).toEqual(pods);

      await nextJob(cluster, second);
      await probeFinds(cluster, { 'tls-probe-status': 'ok', 'tls-probe-hash': 'hash-3' });
      await cluster.eventually('the pods are replaced', async () => {
        const now = await podUids(cluster);
        return now.length === 1 && now[0] !== pods[0];
      });
      await cluster.eventually('the gauge is back', async () =>
        /^btpmanager_credential_probe_status 0$/m.test(await manager.manager.registry.metrics()),
      );
    },
  );

  test.skipIf(embeddedOnly)('a changed interval counts without a restart, and 0 turns the probe off', async () => {
    const { cluster } = await start();
    await using _cluster = cluster;
    const first = await nextJob(cluster, undefined);
    const labels = { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' };
    const metadata = { namespace: 'kyma-system', name: 'sap-btp-manager', labels };
    await cluster.client.create(newObject(ConfigMap, { metadata, data: { ProbeInterval: '10m' } }));
    await cluster.advance(12 * minute);
    expect(await jobUid(cluster)).not.toBe(first);
    const data = { ProbeInterval: '0' };
    await cluster.client.patch(
      ConfigMap,
      { namespace: 'kyma-system', name: 'sap-btp-manager' },
      { type: 'merge', body: { data } },
    );
    await cluster.eventually('there is no Job any more', async () => (await jobUid(cluster)) === undefined);
    await cluster.advance(120 * minute);
    expect(await jobUid(cluster)).toBeUndefined();
  });

  test('runs under an account of its own, and all of it goes with the BtpOperator', async () => {
    const { cluster } = await start();
    await using _cluster = cluster;
    await nextJob(cluster, undefined);
    for (const kind of [ServiceAccount, Role, RoleBinding] as Kind[])
      expect(await cluster.client.get(kind, job)).toBeDefined();
    await cluster.client.delete(BtpOperator, primary);
    await cluster.eventually('BtpOperator and Job are gone', async () => {
      return (await read(cluster)) === undefined && (await jobUid(cluster)) === undefined;
    });
    for (const kind of [ServiceAccount, Role, RoleBinding] as Kind[])
      await cluster.eventually(`its ${kind.kind} is gone`, async () => !(await cluster.client.get(kind, job)));
  });
});
