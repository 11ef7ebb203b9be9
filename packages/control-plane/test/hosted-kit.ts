import { createClient, days, type KubeObject, type ObjectKey, systemClock } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';
import { testCluster, type TestCluster } from '@slipway/testing';

import { APIServer } from '../src/api/components.ts';
import { apiServerComponent } from '../src/api-server/component.ts';
import { hostedProvider } from '../src/api-server/providers/hosted/provider.ts';
import { type HostedSettings, usualSettings } from '../src/api-server/providers/hosted/settings.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { componentKinds } from '../src/component/component-type.ts';
import { componentController } from '../src/component/define-component.ts';
import { platformNamespace } from '../src/name-hashes.ts';
import { names } from '../src/names.ts';
import type { ConnectTarget, Target } from '../src/target/target.ts';

export const key = { namespace: 'default', name: 'demo' };
export const place = platformNamespace(key.namespace, key.name);
export const version = '1.36.3';
export const settings: HostedSettings = { ...usualSettings, version };

/** Plays the ManagedControlPlane controller, which gives an APIServer the label of its generation. */
export function apiServer(spec: object = {}, { namespace, name }: ObjectKey = key): KubeObject {
  return {
    apiVersion: APIServer.apiVersion,
    kind: APIServer.kind,
    metadata: { namespace, name, labels: { [names.mcpGenerationLabel]: '1' } },
    spec: { type: 'Gardener', ...spec },
  };
}

/** What stands for the control plane that simulated pods do not run: an API server the kubeconfigs lead to, whatever they say. */
export class StandIn implements AsyncDisposable {
  /** Kubeconfigs somebody connected with. */
  readonly kubeconfigs = new Set<string>();
  readonly #cluster: TestCluster;

  private constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  static async start(): Promise<StandIn> {
    // One of its own: without controllers the namespaces on it never go, so it cannot be cleaned for others.
    return new StandIn(
      await testCluster({ unshared: true, controllers: 'none', time: 'machine', kinds: [OpenIDConnect] }),
    );
  }

  get client(): TestCluster['client'] {
    return this.#cluster.client;
  }

  readonly connect: ConnectTarget = async (kubeconfig): Promise<Target> => {
    this.kubeconfigs.add(kubeconfig);
    const transport = this.#cluster.transport();
    const client = createClient({ transport, fieldManager: 'control-plane', clock: systemClock });
    return { client, server: 'https://hosted.example:6443', certificateAuthority: 'PEM' };
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster[Symbol.asyncDispose]();
  }
}

/** Looks are rare: months of them have to pass in a second. */
export function hostedController(
  connect: ConnectTarget,
  changes: Partial<HostedSettings> = {},
  lookMs = days(1),
): Controller {
  const provider = hostedProvider({ settings: { ...settings, ...changes }, connect, lookMs });
  return componentController(apiServerComponent({ provider, connect }));
}

/** Has it looked at now. */
export async function lookNow({ client }: TestCluster): Promise<void> {
  const body = { metadata: { annotations: { [names.operationAnnotation]: 'reconcile' } } };
  await client.patch(APIServer, key, { type: 'merge', body });
}

export const hostCluster = (): Promise<TestCluster> =>
  testCluster({ kinds: Object.values(componentKinds), controllers: 'workloads' });

type Status = NonNullable<APIServer['status']>;

/** The condition of the APIServer that says how it is. */
export async function health({ client }: TestCluster): Promise<NonNullable<Status['conditions']>[number] | undefined> {
  const found = await client.get(APIServer, key);
  return found?.status?.conditions?.find(({ type }) => type === 'APIServerHealthy');
}

export async function whenReady(cluster: TestCluster): Promise<APIServer> {
  return await cluster.eventually('the hosted API server is ready', async () => {
    const found = await cluster.client.get(APIServer, key);
    const { conditions = [], observedGenerations } = found?.status ?? {};
    const current = observedGenerations?.resource === found?.metadata.generation;
    return current && conditions.length > 0 && conditions.every(({ status }) => status === 'True') ? found : undefined;
  });
}

/** Whether it is ready and has come to rest in this version. */
export async function whenIs({ client }: TestCluster, wanted: string): Promise<boolean> {
  const found = await client.get(APIServer, key);
  const { conditions = [], observedGenerations } = found?.status ?? {};
  const current = observedGenerations?.resource === found?.metadata.generation;
  const upToDate = conditions.some(({ reason, message }) => reason === 'UpToDate' && message === wanted);
  return current && upToDate && conditions.every(({ status }) => status === 'True');
}
