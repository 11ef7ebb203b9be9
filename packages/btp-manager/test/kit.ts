import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition, Namespace, newObject, Secret, systemClock, type KubeObject } from '@slipway/kube';
import {
  onReference,
  testCluster,
  type TestCluster,
  type TestClusterOptions,
  type TestManager,
} from '@slipway/testing';

import { BtpOperator } from '../src/api.ts';
import { makeCa, makeLeaf } from '../src/certificates/issue-certificates.ts';
import { ModuleLoader } from '../src/resources/load.ts';
import { manifestsDir } from '../src/manifests-dir.ts';
import { btpOperatorController, type BtpManagerOptions } from '../src/btp-operator/controller.ts';
import { ManagerTransport, type Answer, type Refused, type RequestMatch } from './manager-transport.ts';
import { realWorkDone } from './real-work.ts';
import { settingsFromFlags, withConfigMap, type Settings } from '../src/settings/settings.ts';

export const primary = { namespace: 'kyma-system', name: 'btpoperator' };
export const encode = (text: string): string => Buffer.from(text).toString('base64');
export const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString('utf8');

const copies: string[] = [];
// Files that share a worker share the first copy too, so it goes with the worker, which is told to end by a signal.
process.once('SIGTERM', () => {
  for (const folder of copies) rmSync(folder, { recursive: true, force: true });
  process.kill(process.pid, 'SIGTERM');
});

/** A copy of the module's files that a test may change. */
export async function moduleCopy(): Promise<{ folder: string; data: Record<string, string> }> {
  const folder = await mkdtemp(join(tmpdir(), 'btp-module-'));
  copies.push(folder);
  await cp(manifestsDir, folder, { recursive: true });
  // No service operator runs in tests. Its webhooks are configured as they should be, but not called for test objects.
  const webhooks = join(folder, 'module-resources', 'apply', 'webhooks.yml');
  const text = await readFile(webhooks, 'utf8');
  const selector = 'objectSelector: { matchLabels: { admission: wanted } }';
  await writeFile(webhooks, text.replaceAll(/^( +)failurePolicy/gm, `$1${selector}\n$1failurePolicy`));
  return {
    folder,
    data: {
      ChartPath: join(folder, 'module-chart', 'chart'),
      ResourcesPath: join(folder, 'module-resources'),
      ManagerResourcesPath: join(folder, 'manager-resources'),
    },
  };
}

const sharedModule = await moduleCopy();
/** Keeps the parsed files from test to test. */
const sharedLoader = new ModuleLoader();

/** The defaults with small keys (RSA 4096 costs seconds) and webhooks that leave test objects alone. */
export const testSettings = (data: Record<string, string> = {}): Settings =>
  withConfigMap(settingsFromFlags(), { RsaKeyBits: '2048', ...sharedModule.data, ...data }).settings;

const startMs = onReference ? systemClock.now() : Date.UTC(2026, 0, 1);
const longLived = testSettings({ WebhookCertificateExpiration: '87600h' });
const seededCa = await makeCa(longLived, startMs, 'seed');
const seededLeaf = await makeLeaf(seededCa, longLived, startMs);

/** Certificates as an earlier run of the manager would have left them: making keys is what takes longest. */
export function seededCertificates(): KubeObject[] {
  const secret = (name: string, data: Record<string, string>) =>
    newObject(Secret, {
      metadata: { namespace: 'kyma-system', name, labels: { 'app.kubernetes.io/managed-by': 'btp-manager' } },
      type: 'Opaque',
      data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, encode(value)])),
    });
  return [
    secret('ca-server-cert', { 'ca.crt': seededCa.certificate, 'ca.key': seededCa.privateKey }),
    secret('webhook-server-cert', { 'tls.crt': seededLeaf.certificate, 'tls.key': seededLeaf.privateKey }),
  ];
}

export function btpOperator(metadata: Partial<BtpOperator['metadata']> = {}): BtpOperator {
  return newObject(BtpOperator, { metadata: { ...primary, ...metadata } } as never);
}

export function requiredSecret(data: Record<string, string> = {}, labels?: Record<string, string>): Secret {
  const values = {
    clientid: 'the-client-id',
    clientsecret: 'the-client-secret',
    sm_url: 'https://service-manager.example',
    tokenurl: 'https://token.example',
    cluster_id: 'cluster-1',
    ...data,
  };
  return newObject(Secret, {
    metadata: {
      namespace: 'kyma-system',
      name: 'sap-btp-manager',
      labels: labels ?? { 'app.kubernetes.io/managed-by': 'kcp-kyma-environment-broker' },
    },
    data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encode(value)])),
  });
}

export const namespace = (name: string): KubeObject => newObject(Namespace, { metadata: { name } });

/** What is minutes by default and can only be waited for in virtual time. Nothing on the embedded cluster. */
export const impatient: Readonly<Record<string, string>> = onReference
  ? { ProcessingStateRequeueInterval: '1s', ReadyStateRequeueInterval: '1s' }
  : {};

/** A cluster of either kind whose API server can be told to refuse what managers ask. */
export interface BtpTestCluster extends TestCluster {
  /** What managers have asked to be written, as `patch deployments name`; status and events not counted. */
  readonly writes: readonly string[];
  /** From now on managers get this answer to such requests. Default: 403. */
  refuse(match: RequestMatch, answer?: Answer): Refused;
}

/** A cluster with the namespace, certificates and, unless told otherwise, the required Secret. */
export async function btpCluster(
  objects: readonly KubeObject[] = [requiredSecret(), ...seededCertificates()],
  options: TestClusterOptions = {},
): Promise<BtpTestCluster> {
  const cluster = await testCluster({
    kinds: [BtpOperator],
    controllers: 'workloads',
    ...options,
    objects: [namespace('kyma-system'), ...objects],
  });
  const writes: string[] = [];
  const transport = new ManagerTransport(cluster.transport(), {
    answered({ verb, resource, name }) {
      if (!/^(get|list|watch)$/.test(verb) && !/^events$|\/status$/.test(resource))
        writes.push(`${verb} ${resource} ${name ?? ''}`.trim());
    },
  });
  const patient = cluster.type === 'embedded' ? withRealWork(cluster) : cluster;
  return {
    ...patient,
    run: (controllers, managerOptions) => cluster.run(controllers, { cluster: { transport }, ...managerOptions }),
    writes,
    refuse: (match, answer) => transport.refuse(match, answer),
  };
}

/** A cluster whose time stands still while the manager reads files or makes keys. */
function withRealWork(cluster: TestCluster): TestCluster {
  const eventually: TestCluster['eventually'] = (what, check, options) =>
    cluster.eventually(
      what,
      async () => {
        await realWorkDone();
        return await check();
      },
      options,
    );
  return {
    ...cluster,
    eventually,
    async advance(ms) {
      const end = cluster.clock.now() + ms;
      const timer = cluster.clock.schedule(ms, () => undefined);
      await eventually(`${ms} ms pass`, () => cluster.clock.now() >= end);
      timer.cancel();
    },
  };
}

export function btpController(options: Partial<BtpManagerOptions> = {}) {
  return btpOperatorController({
    images: { serviceOperator: 'operator.example/sap-btp-service-operator:v1' },
    settings: testSettings(),
    loader: sharedLoader,
    ...options,
  });
}

export async function read(cluster: TestCluster, key = primary): Promise<BtpOperator | undefined> {
  return await cluster.client.get(BtpOperator, key);
}

export function reasonIn(btp: BtpOperator | undefined): string | undefined {
  return findCondition(btp, 'Ready')?.reason;
}

export function messageIn(btp: BtpOperator | undefined): string | undefined {
  return findCondition(btp, 'Ready')?.message;
}

/** Lets time pass until the object has one of the reasons. */
export async function reaches(
  cluster: TestCluster,
  reasons: string | readonly string[],
  options: { key?: typeof primary; withinMs?: number } = {},
): Promise<BtpOperator> {
  const wanted = typeof reasons === 'string' ? [reasons] : reasons;
  let last: BtpOperator | undefined;
  try {
    return await cluster.eventually(
      `the BtpOperator gets ${wanted.join(' or ')}`,
      async () => {
        last = await read(cluster, options.key);
        return last && wanted.includes(reasonIn(last) ?? '') ? last : undefined;
      },
      { withinMs: options.withinMs ?? 3_600_000 },
    );
  } catch (error) {
    throw new Error(`${(error as Error).message}; it has ${reasonIn(last)}: ${messageIn(last)}`, { cause: error });
  }
}

export async function isGone(cluster: TestCluster, withinMs = 3_600_000): Promise<void> {
  let last: BtpOperator | undefined;
  try {
    await cluster.eventually(
      'the BtpOperator is gone',
      async () => {
        last = await read(cluster);
        return last === undefined;
      },
      { withinMs },
    );
  } catch (error) {
    throw new Error(`${(error as Error).message}; it has ${reasonIn(last)}: ${messageIn(last)}`, { cause: error });
  }
}

/** A manager at work on a cluster whose module is ready. */
export async function readyCluster(
  controllerOptions: Partial<BtpManagerOptions> = {},
  objects?: readonly KubeObject[],
): Promise<BtpTestCluster & { readonly manager: TestManager }> {
  const cluster = await btpCluster(objects);
  const manager = await cluster.run([btpController(controllerOptions)]);
  await cluster.client.create(btpOperator());
  await reaches(cluster, 'ReconcileSucceeded');
  return { ...cluster, manager };
}

/** Every (state, reason) a BtpOperator went through, in order. Embedded cluster only. */
export function watchReasons(cluster: TestCluster): string[] {
  const seen: string[] = [];
  cluster.embedded!.observe(({ storageId, type, object }) => {
    if (storageId !== 'btpoperators.operator.kyma-project.io' || type === 'DELETED') return;
    const btp = object as unknown as BtpOperator;
    const entry = `${btp.status?.state ?? ''}/${reasonIn(btp) ?? ''}`;
    if (entry !== '/' && seen.at(-1) !== entry) seen.push(entry);
  });
  return seen;
}

export function serviceInstance(name: string, metadata: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: 'services.cloud.sap.com/v1',
    kind: 'ServiceInstance',
    metadata: { namespace: 'default', name, ...metadata },
    spec: { serviceOfferingName: 'xsuaa', servicePlanName: 'application' },
  };
}

export function serviceBinding(
  name: string,
  metadata: Record<string, unknown> = {},
  spec: Record<string, unknown> = {},
): KubeObject {
  return {
    apiVersion: 'services.cloud.sap.com/v1',
    kind: 'ServiceBinding',
    metadata: { namespace: 'default', name, ...metadata },
    spec: { serviceInstanceName: 'instance', ...spec },
  };
}

/** What the service operator puts on its objects; nobody takes it off in tests unless they do it themselves. */
export const held = { finalizers: ['services.cloud.sap.com/sap-btp-finalizer'] };
