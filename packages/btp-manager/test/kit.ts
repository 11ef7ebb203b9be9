import { findCondition, Namespace, newObject, Secret, type KubeObject } from '@slipway/kube';
import { testCluster, type TestCluster, type TestClusterOptions } from '@slipway/testing';

import { BtpOperator } from '../src/api.ts';
import { btpOperatorController, type BtpManagerOptions } from '../src/btp-operator/controller.ts';
import { realWorkDone } from './real-work.ts';
import { settingsFromFlags, withConfigMap, type Settings } from '../src/settings/settings.ts';

export const primary = { namespace: 'kyma-system', name: 'btpoperator' };
export const encode = (text: string): string => Buffer.from(text).toString('base64');
export const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString('utf8');

/** The defaults with small keys: RSA 4096 costs seconds. */
export const testSettings = (data: Record<string, string> = {}): Settings => ({
  ...withConfigMap(settingsFromFlags(), { RsaKeyBits: '2048', ...data }).settings,
});

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

/** A cluster with the namespace and, unless told otherwise, the required Secret. */
export async function btpCluster(
  objects: readonly KubeObject[] = [requiredSecret()],
  options: TestClusterOptions = {},
): Promise<TestCluster> {
  const cluster = await testCluster({
    kinds: [BtpOperator],
    controllers: 'workloads',
    ...options,
    objects: [namespace('kyma-system'), ...objects],
  });
  return cluster.type === 'embedded' ? withRealWork(cluster) : cluster;
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
