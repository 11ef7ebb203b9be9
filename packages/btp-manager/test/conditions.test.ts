import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClusterRole, ConfigMap, newObject, Pod, Secret } from '@slipway/kube';
import { onReference, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { reasons, type ReasonRow } from '../src/reasons.ts';
import {
  btpCluster,
  btpController,
  btpOperator,
  encode,
  impatient,
  messageIn,
  moduleCopy,
  namespace,
  reaches,
  readyCluster,
  requiredSecret,
  seededCertificates,
  testSettings,
  watchReasons,
} from './kit.ts';
import { passedReasons } from './passed-reasons.ts';

const system = (name: string) => ({ namespace: 'kyma-system', name });

/** On a real cluster nobody waits five minutes for the next try. */
const settings = testSettings(impatient);

const changeSecret = (cluster: TestCluster, values: Record<string, string>) =>
  cluster.client.patch(Secret, system('sap-btp-manager'), {
    type: 'merge',
    body: { data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encode(value)])) },
  });

// Other rows are where the flow comes to them: provisioning.test.ts, updating.test.ts, deprovisioning.test.ts.
describe('reasons of the condition', () => {
  test('AnnotatingSecretFailed: what was in force before cannot be noted on the required Secret', async () => {
    await using cluster = await readyCluster({ settings });
    const fault = cluster.refuse({ verb: 'patch', resource: 'secrets', name: 'sap-btp-manager' });
    await changeSecret(cluster, { cluster_id: 'cluster-2' });
    const failed = await reaches(cluster, 'AnnotatingSecretFailed');
    expect(failed.status?.state).toBe('Error');
    // Nothing was changed before the note could be made.
    const config = await cluster.client.get(ConfigMap, system('sap-btp-operator-config'));
    expect(config?.data?.['CLUSTER_ID']).toBe('cluster-1');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test('ChartPathEmpty: there is no Chart.yaml where the setting points', async () => {
    await using cluster = await btpCluster();
    await cluster.run([btpController({ settings: testSettings({ ...impatient, ChartPath: '' }) })]);
    await cluster.client.create(btpOperator());
    const failed = await reaches(cluster, 'ChartPathEmpty');
    expect(failed.status?.state).toBe('Error');
    expect(messageIn(failed)).toContain('--chart-path');
  });

  test('DeletionOfOrphanedResourcesFailed: a stored cluster id that is not wanted any more cannot be deleted', async () => {
    const stale = newObject(Secret, {
      metadata: system('sap-btp-operator-clusterid'),
      data: { INITIAL_CLUSTER_ID: encode('of-an-earlier-installation') },
    });
    await using cluster = await btpCluster([requiredSecret(), stale, ...seededCertificates()]);
    const fault = cluster.refuse({ verb: 'delete', resource: 'secrets', name: 'sap-btp-operator-clusterid' });
    await cluster.run([btpController({ settings })]);
    await cluster.client.create(btpOperator());
    expect((await reaches(cluster, 'DeletionOfOrphanedResourcesFailed')).status?.state).toBe('Error');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded');
    expect(await cluster.client.get(Secret, system('sap-btp-operator-clusterid'))).toBeUndefined();
  });

  test('GettingConfigMapFailed: the settings cannot be read', async () => {
    await using cluster = await btpCluster();
    const fault = cluster.refuse({ verb: 'get', resource: 'configmaps', name: 'sap-btp-manager' });
    await cluster.run([btpController({ settings })]);
    await cluster.client.create(btpOperator());
    expect((await reaches(cluster, 'GettingConfigMapFailed')).status?.state).toBe('Error');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test('GettingDefaultCredentialsSecretFailed: it cannot be seen where credentials are', async () => {
    await using cluster = await readyCluster({ settings });
    const fault = cluster.refuse({ verb: 'list', resource: 'secrets' });
    await changeSecret(cluster, { clientid: 'other-client' });
    expect((await reaches(cluster, 'GettingDefaultCredentialsSecretFailed')).status?.state).toBe('Error');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test('GettingSapBtpServiceOperatorClusterIdSecretFailed: the stored cluster id cannot be read', async () => {
    await using cluster = await btpCluster();
    const fault = cluster.refuse({ verb: 'get', resource: 'secrets', name: 'sap-btp-operator-clusterid' });
    await cluster.run([btpController({ settings })]);
    await cluster.client.create(btpOperator());
    const failed = await reaches(cluster, 'GettingSapBtpServiceOperatorClusterIdSecretFailed');
    expect(failed.status?.state).toBe('Error');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test('GettingSapBtpServiceOperatorConfigMapFailed: the configuration in force cannot be read', async () => {
    await using cluster = await btpCluster();
    const fault = cluster.refuse({ verb: 'get', resource: 'configmaps', name: 'sap-btp-operator-config' });
    await cluster.run([btpController({ settings })]);
    await cluster.client.create(btpOperator());
    expect((await reaches(cluster, 'GettingSapBtpServiceOperatorConfigMapFailed')).status?.state).toBe('Error');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test('InconsistentChart: a mistake in a file is named, and the corrected file is read again', async () => {
    const { folder, data } = await moduleCopy();
    const file = join(folder, 'module-resources', 'apply', 'extra.yml');
    await writeFile(file, 'apiVersion: v1\nkind: ConfigMap\n');
    await using cluster = await btpCluster();
    await cluster.run([btpController({ settings: testSettings({ ...data, ...impatient }) })]);
    await cluster.client.create(btpOperator());
    const failed = await reaches(cluster, 'InconsistentChart');
    expect(failed.status?.state).toBe('Error');
    expect(messageIn(failed)).toContain('extra.yml, document 1, line 1');
    await writeFile(file, '');
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 310_000 });
  });

  test('PreparingInstallInfoFailed: the Deployment has no container to put the image into', async () => {
    const { folder, data } = await moduleCopy();
    const file = join(folder, 'module-resources', 'apply', 'deployment.yml');
    await writeFile(file, (await readFile(file, 'utf8')).replace('name: manager\n', 'name: somebody-else\n'));
    await using cluster = await btpCluster();
    await cluster.run([btpController({ settings: testSettings({ ...data, ...impatient }) })]);
    await cluster.client.create(btpOperator());
    const failed = await reaches(cluster, 'PreparingInstallInfoFailed');
    expect(failed.status?.state).toBe('Error');
    expect(messageIn(failed)).toContain('has no container "manager"');
  });

  test('ProvisioningFailed: the server refuses a resource', async () => {
    await using cluster = await btpCluster();
    const fault = cluster.refuse({ verb: 'patch', resource: 'clusterroles' });
    await cluster.run([btpController({ settings })]);
    await cluster.client.create(btpOperator());
    const failed = await reaches(cluster, 'ProvisioningFailed');
    expect(failed.status?.state).toBe('Error');
    expect(messageIn(failed)).toContain('failed to apply module resources: ClusterRole');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 310_000 });
  });

  test('ReconcileFailed: the same in a ready module', async () => {
    await using cluster = await readyCluster({ settings });
    const passed = await passedReasons(cluster);
    const fault = cluster.refuse({ verb: 'patch', resource: 'secrets', name: 'sap-btp-service-operator' });
    await changeSecret(cluster, { clientid: 'other-client' });
    const failed = await passed.had('ReconcileFailed');
    expect(failed.status?.state).toBe('Error');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded');
  });

  test('ResourceRemovalFailed: what is superseded cannot be removed', async () => {
    await using cluster = await readyCluster({ settings }, [
      namespace('creds'),
      requiredSecret(),
      ...seededCertificates(),
    ]);
    const fault = cluster.refuse({ verb: 'delete', resource: 'secrets', name: 'sap-btp-service-operator' });
    await changeSecret(cluster, { credentials_namespace: 'creds' });
    expect((await reaches(cluster, 'ResourceRemovalFailed')).status?.state).toBe('Error');
    fault.remove();
    await reaches(cluster, 'ReconcileSucceeded');
    expect(await cluster.client.get(Secret, system('sap-btp-service-operator'))).toBeUndefined();
  });

  test('a pod that refused to start with an old cluster id is restarted', async () => {
    await using cluster = await readyCluster({ settings });
    const { client } = cluster;
    // A pod nobody runs, so that its condition stays as it is put.
    const key = system('refused-to-start');
    await client.create(
      newObject(Pod, {
        metadata: { ...key, labels: { 'app.kubernetes.io/instance': 'sap-btp-operator' } },
        spec: { schedulingGates: [{ name: 'test/gate' }], containers: [{ name: 'manager', image: 'x' }] },
      }),
    );
    const conditions = [{ type: 'Ready', status: 'False' }];
    await client.patch(Pod, key, { type: 'merge', body: { status: { conditions } } }, { subresource: 'status' });
    await client.create(
      newObject(Secret, {
        metadata: system('sap-btp-operator-clusterid'),
        data: { INITIAL_CLUSTER_ID: encode('somebody-else') },
      }),
    );
    await changeSecret(cluster, { clientid: 'wakes-the-manager' });
    await cluster.eventually('the pod is gone', async () => !(await client.get(Pod, key)), { withinMs: 60_000 });
    const running = (await client.listPage(Pod, { namespace: 'kyma-system' })).items;
    expect(running.map(({ status }) => status?.phase)).toEqual(['Running']);
  });

  test('what may pass by itself is tried again soon, and shows when it does not pass', async () => {
    await using cluster = await btpCluster();
    const seen = cluster.embedded ? watchReasons(cluster) : undefined;
    const busy = (times: number) =>
      cluster.refuse({ verb: 'patch', resource: 'clusterroles', times }, { status: 503, reason: 'ServiceUnavailable' });
    busy(2);
    await cluster.run([btpController({ settings })]);
    await cluster.client.create(btpOperator());
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 60_000 });
    if (seen) expect(seen).toEqual(['Processing/Initialized', 'Ready/ReconcileSucceeded']);
    const passed = await passedReasons(cluster);
    const lasting = busy(Number.MAX_SAFE_INTEGER);
    await cluster.client.delete(ClusterRole, { name: 'sap-btp-operator-manager-role' });
    await passed.had('ReconcileFailed', { withinMs: 60_000 });
    lasting.remove();
    await reaches(cluster, 'ReconcileSucceeded', { withinMs: 60_000 });
  });
});

describe('the documentation', () => {
  const storyFiles = ['provisioning.test.ts', 'updating.test.ts', 'deprovisioning.test.ts', 'conditions.test.ts'];
  const readStories = async () =>
    (await Promise.all(storyFiles.map((file) => readFile(join(import.meta.dirname, file), 'utf8')))).join('\n');

  test('names for every step a test that shows it', async () => {
    const page = join(import.meta.dirname, '..', '..', '..', 'docs', 'btp-manager-steps.md');
    const rows = [...(await readFile(page, 'utf8')).matchAll(/^\| (\d+a?) \| [^|]+ \| ("[^|]+") \|$/gm)];
    const steps = Array.from({ length: 11 }, (_, index) => `${index + 1}`);
    const sorted = (list: readonly string[]) => [...list].sort();
    expect(sorted(rows.map(([, step]) => step!))).toEqual(sorted([...steps, '3a', '5a', '6a', ...steps, '11a']));
    const titles = new Set(
      [...(await readStories()).matchAll(/\btest[^(]*(?:\([^()]*\))?\(\s*(['"`])(.*?)\1,/g)].map(
        ([, , title]) => title!,
      ),
    );
    const shown = rows.flatMap(([, , list]) => list!.slice(1, -1).split('", "'));
    expect(shown.filter((title) => !titles.has(title))).toEqual([]);
  });

  test('lists no reason that is not reached in a test', async () => {
    const stories = await readStories();
    const set = Object.entries<ReasonRow>(reasons).filter(([, { reserved }]) => !reserved);
    expect(set.map(([reason]) => reason).filter((reason) => !stories.includes(`${reason}'`))).toEqual([]);
  });
});

describe('the condition', () => {
  test('keeps lastTransitionTime while Ready stays false, and says which generation it is about', async () => {
    await using cluster = await btpCluster(seededCertificates());
    await cluster.run([btpController({ settings })]);
    await cluster.client.create(btpOperator());
    const missing = await reaches(cluster, 'MissingSecret');
    await cluster.advance(onReference ? 1100 : 60_000);
    await cluster.client.create(requiredSecret({ clientid: '' }));
    const invalid = await reaches(cluster, 'InvalidSecret');
    expect(invalid.status?.conditions).toHaveLength(1);
    expect(invalid.status?.conditions?.[0]?.lastTransitionTime).toBe(
      missing.status?.conditions?.[0]?.lastTransitionTime,
    );
    expect(invalid.status?.conditions?.[0]?.observedGeneration).toBe(1);
    await changeSecret(cluster, { clientid: 'now-it-is-there' });
    const ready = await reaches(cluster, 'ReconcileSucceeded');
    expect(ready.status?.conditions?.[0]?.lastTransitionTime).not.toBe(
      missing.status?.conditions?.[0]?.lastTransitionTime,
    );
  });

  test('ChartInstallFailed and StoringChartDetailsFailed are never set; all others are', async () => {
    const folder = join(import.meta.dirname, '..', 'src');
    const files = (await readdir(folder, { recursive: true })).filter((file) => /(?<!\.test)\.ts$/.test(file));
    const texts = await Promise.all(
      files.filter((file) => file !== 'reasons.ts').map((file) => readFile(join(folder, file), 'utf8')),
    );
    const source = texts.join('\n');
    for (const [reason, { reserved }] of Object.entries<ReasonRow>(reasons))
      expect([reason, source.includes(`'${reason}'`)]).toEqual([reason, reserved !== true]);
  });
});
