import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { Pod, Secret, type KubeObject } from '@slipway/kube';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { afterAll, describe, expect, test } from 'vitest';

import { BtpOperator, ServiceBinding, ServiceInstance } from '../src/api.ts';
import { settingsFromFlags, withConfigMap } from '../src/settings/settings.ts';
import {
  btpController,
  btpOperator,
  decode,
  isGone,
  moduleCopy,
  namespace,
  primary,
  reaches,
  requiredSecret,
  serviceBinding,
  serviceInstance,
} from './kit.ts';
import { ports } from './service-operator-facts.ts';
import { ServiceManager } from './service-operator/service-manager.ts';

const problem = onReference
  ? (await import('@slipway/reference-cluster')).processNodeProblem()
  : 'it needs the reference cluster (SLIPWAY_CLUSTER=reference)';
const leftOut = skipped(problem !== undefined, `the service operator as a process: ${problem}`);

const image = (version: string) => `operator.example/sap-btp-service-operator:${version}`;
const inDefault = (name: string) => ({ namespace: 'default', name });
const inSystem = (name: string) => ({ namespace: 'kyma-system', name });
const minutes = 60_000;

const folder = await mkdtemp(join(tmpdir(), 'service-operator-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The real program where one is named, else the stand-in. */
async function program(): Promise<string> {
  const real = process.env['SAP_BTP_SERVICE_OPERATOR_BIN'];
  if (real) return real;
  const script = join(folder, 'manager');
  const main = join(import.meta.dirname, 'service-operator', 'main.ts');
  await writeFile(script, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  await chmod(script, 0o755);
  return script;
}

interface Stage extends TestCluster {
  readonly serviceManager: ServiceManager;
}

/** A cluster whose node runs the service operator, and a Service Manager its pods can reach. */
async function stage(): Promise<Stage> {
  const files = { '/manager': await program() };
  const serviceManager = new ServiceManager();
  const cluster = await testCluster({
    kinds: [BtpOperator],
    controllers: 'workloads',
    processNode: {
      images: { [image('v1')]: { files }, [image('v2')]: { files } },
      backOff: { baseMs: 500, maxMs: 5_000, resetAfterMs: 10 * minutes },
    },
    objects: [namespace('kyma-system')],
  });
  const url = `http://${cluster.hostAddress}:${await serviceManager.start()}`;
  await cluster.client.create(requiredSecret({ sm_url: url, tokenurl: url }));
  return {
    ...cluster,
    serviceManager,
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      await serviceManager[Symbol.asyncDispose]();
    },
  };
}

/** As shipped, webhooks included; only keys are small and looks frequent. */
const settings = (data: Record<string, string> = {}) =>
  withConfigMap(settingsFromFlags(), {
    RsaKeyBits: '2048',
    ProcessingStateRequeueInterval: '1s',
    ReadyStateRequeueInterval: '1s',
    HardDeleteCheckInterval: '1s',
    ...data,
  }).settings;

const runManager = (cluster: Stage, version: string, data?: Record<string, string>) =>
  cluster.run([btpController({ settings: settings(data), images: { serviceOperator: image(version) } })]);

async function operatorPods({ client }: TestCluster): Promise<readonly Pod[]> {
  const labelSelector = { 'app.kubernetes.io/instance': 'sap-btp-operator' };
  const { items } = await client.listPage(Pod, { namespace: 'kyma-system', labelSelector });
  return items as readonly Pod[];
}

const restarts = (pods: readonly Pod[]) =>
  pods.map(({ metadata, status }) => [metadata.uid, status?.containerStatuses?.[0]?.restartCount]);

interface Reported extends KubeObject {
  readonly spec?: Record<string, unknown>;
  readonly status?: { readonly ready?: string };
}

/** Creates an object of the service operator and waits until it reports that it is ready. */
async function provision(cluster: Stage, kind: typeof ServiceInstance, object: KubeObject): Promise<Reported> {
  // Right after a change of the certificate, the API server may still use the trust it had.
  await cluster.eventually(`${object.kind} is admitted`, () => cluster.client.create(object));
  return await cluster.eventually(`${object.kind} ${object.metadata.name} is ready`, async () => {
    const found = (await cluster.client.get(kind, inDefault(object.metadata.name!))) as Reported | undefined;
    return found?.status?.ready === 'True' ? found : undefined;
  });
}

/** The certificate with which the pod serves its webhooks. */
function servedCertificate(host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host, port: ports.webhooks, rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      resolve(raw.toString('base64'));
    }).on('error', reject);
  });
}

const derOf = (pem: string) => pem.replaceAll(/-----[^-]+-----|\s/g, '');

/** Runs a story; when it fails, what the processes wrote is part of the error. */
async function told(cluster: Stage, story: () => Promise<void>): Promise<void> {
  try {
    await story();
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${await cluster.logs!()}`, { cause: error });
  }
}

describe.skipIf(leftOut)('the service operator as a process under the manager', () => {
  test(
    'is provisioned, called for admission, works, is updated, gets new certificates, and goes with all it made',
    { timeout: 8 * minutes },
    async () => {
      await using cluster = await stage();
      const { client, serviceManager } = cluster;
      await told(cluster, async () => {
        const first = await runManager(cluster, 'v1');
        await client.create(btpOperator());
        await reaches(cluster, 'ReconcileSucceeded');

        // Its webhooks fill in what was left out, and forbid what must not be.
        const instance = await provision(cluster, ServiceInstance, serviceInstance('instance'));
        expect(instance.spec).toMatchObject({ externalName: 'instance', userInfo: { username: 'kubernetes-admin' } });
        expect(instance.metadata.finalizers).toContain('services.cloud.sap.com/sap-btp-finalizer');
        const binding = await provision(cluster, ServiceBinding, serviceBinding('binding'));
        expect(binding.spec).toMatchObject({ secretName: 'binding' });
        await expect(
          client.patch(ServiceBinding, inDefault('binding'), {
            type: 'merge',
            body: { spec: { serviceInstanceName: 'another' } },
          }),
        ).rejects.toMatchObject({ code: 403 });
        expect([...serviceManager.clientVersions]).toEqual(['v0.11.10']);
        expect([serviceManager.instances.size, serviceManager.bindings.size]).toEqual([1, 1]);
        const [bindingId] = serviceManager.bindings.keys();
        const credentials = await client.get(Secret, inDefault('binding'));
        expect(decode(credentials?.data?.['user'])).toBe(`user-of-${bindingId}`);

        // Another parameter reaches the Service Manager.
        await client.patch(ServiceInstance, inDefault('instance'), {
          type: 'merge',
          body: { spec: { parameters: { size: 'large' } } },
        });
        await cluster.eventually('the Service Manager has the new parameter', () =>
          [...serviceManager.instances.values()].some(({ parameters }) => (parameters as { size?: string })?.size),
        );

        // Another version replaces the pod, which keeps the cluster id it wrote down.
        await first.stop();
        await runManager(cluster, 'v2');
        const [pod] = await cluster.eventually('only the new version runs', async () => {
          const pods = await operatorPods(cluster);
          return pods.length === 1 && pods[0]!.spec?.containers[0]?.image === image('v2') ? pods : undefined;
        });
        await reaches(cluster, 'ReconcileSucceeded');
        const clusterId = await client.get(Secret, inSystem('sap-btp-operator-clusterid'));
        expect(decode(clusterId?.data?.['INITIAL_CLUSTER_ID'])).toBe('cluster-1');

        // New certificates are served and trusted without a restart.
        const before = restarts(await operatorPods(cluster));
        const served = await servedCertificate(pod!.status!.podIP!);
        await client.delete(Secret, inSystem('ca-server-cert'));
        await cluster.eventually('the new certificate is served', async () => {
          const secret = await client.get(Secret, inSystem('webhook-server-cert'));
          const now = await servedCertificate(pod!.status!.podIP!);
          return now !== served && now === derOf(decode(secret?.data?.['tls.crt']));
        });
        await provision(cluster, ServiceInstance, serviceInstance('after-rotation'));
        expect(restarts(await operatorPods(cluster))).toEqual(before);

        // Instances and bindings block the deletion; when it is forced, the operator deletes them before it goes itself.
        await client.delete(BtpOperator, primary);
        await reaches(cluster, 'ServiceInstancesAndBindingsNotCleaned');
        await client.patch(BtpOperator, primary, {
          type: 'merge',
          body: { metadata: { labels: { 'force-delete': 'true' } } },
        });
        await isGone(cluster);
        expect([serviceManager.instances.size, serviceManager.bindings.size]).toEqual([0, 0]);
        expect(await client.get(Secret, inDefault('binding'))).toBeUndefined();
        await cluster.eventually('no pod is left', async () => (await operatorPods(cluster)).length === 0);
      });
    },
  );

  test(
    'is removed although the Service Manager deletes nothing: softly, after the time limit',
    { timeout: 5 * minutes },
    async () => {
      await using cluster = await stage();
      const { client, serviceManager } = cluster;
      await told(cluster, async () => {
        await runManager(cluster, 'v1', { HardDeleteTimeout: '5s' });
        await client.create(btpOperator({ labels: { 'force-delete': 'true' } }));
        await reaches(cluster, 'ReconcileSucceeded');
        await provision(cluster, ServiceInstance, serviceInstance('instance'));
        await provision(cluster, ServiceBinding, serviceBinding('binding'));
        serviceManager.refusesDeletion = true;
        await client.delete(BtpOperator, primary);
        await isGone(cluster);
        expect([serviceManager.instances.size, serviceManager.bindings.size]).toEqual([1, 1]);
        expect(serviceManager.requests.filter((request) => request.startsWith('DELETE')).length).toBeGreaterThan(0);
        expect(await client.get(Secret, inDefault('binding'))).toBeUndefined();
      });
    },
  );

  test('does not start with a flag it does not know, and the pod says so', { timeout: 5 * minutes }, async () => {
    await using cluster = await stage();
    const { folder: module, data } = await moduleCopy();
    const deployment = join(module, 'module-resources', 'apply', 'deployment.yml');
    const text = await readFile(deployment, 'utf8');
    await writeFile(deployment, text.replace('--metrics-addr', '--metrics-bind-address'));
    await told(cluster, async () => {
      await runManager(cluster, 'v1', data);
      await cluster.client.create(btpOperator());
      const status = await cluster.eventually('the container is in CrashLoopBackOff', async () => {
        const [pod] = await operatorPods(cluster);
        const found = pod?.status?.containerStatuses?.[0];
        return found?.state?.waiting?.reason === 'CrashLoopBackOff' ? found : undefined;
      });
      expect(status.lastState?.terminated).toMatchObject({ exitCode: 2, reason: 'Error' });
      expect(await cluster.logs!()).toContain('flag provided but not defined: -metrics-bind-address');
    });
  });
});
