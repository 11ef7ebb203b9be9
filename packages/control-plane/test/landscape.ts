import { join } from 'node:path';
import type { Cluster as EmbeddedCluster, ClusterOptions } from '@slipway/apiserver';
import { type Client, createClient, type KubeObject, toCustomResourceDefinition, type Transport } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';
import { type OtherCalls, testCluster, type TestCluster, type TestManager } from '@slipway/testing';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { ControlPlane } from '../src/cloud-orchestrator/hand-off.ts';
import { ReleaseChannel } from '../src/cloud-orchestrator/managed-components.ts';
import { LandscaperDeployment, LandscaperV2 } from '../src/landscaper/kinds.ts';
import { controlPlaneControllers, controlPlaneOperator } from '../src/operator.ts';
import type { ConnectTarget } from '../src/target/target.ts';
import { canary, serverUrl, targetSecret, warmTokens, watchable } from '../src/testing/index.ts';
import { lookEveryMs } from './look-every.ts';
import { Way } from './way.ts';
import { serveControlPlanes, serveLandscapers, serveSecondLandscapers, type Trouble } from './real-subjects.ts';

export const key = { namespace: 'team', name: 'demo' };
export const team: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: key.namespace } };
export const clientSecret = 'canary-client-secret-76543210';

/** A control plane with one of everything. */
export const everything = {
  authentication: {
    identityProviders: [
      {
        name: 'corp',
        issuerURL: 'https://login.example.com',
        clientID: 'demo',
        usernameClaim: 'email',
        clientConfig: { clientSecret: { name: 'login', key: 'secret' } },
      },
    ],
  },
  authorization: {
    roleBindings: [
      { role: 'admin', subjects: [{ kind: 'User', name: 'corp:ann' }] },
      { role: 'view', subjects: [{ kind: 'User', name: 'corp:bob' }] },
    ],
  },
  components: { apiServer: { type: 'Gardener' }, landscaper: {}, flux: { version: '1.0.0' } },
};

export function mcp(spec: object = everything, name = key.name): KubeObject {
  return {
    apiVersion: ManagedControlPlane.apiVersion,
    kind: 'ManagedControlPlane',
    metadata: { ...key, name },
    spec,
  };
}

const login = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: key.namespace, name: 'login' },
  stringData: { secret: clientSecret },
} as KubeObject;

/** Customers may choose the second architecture for their Landscaper. */
const architectures = join(import.meta.dirname, 'architectures.yaml');

/** Kinds of others on the onboarding cluster, where no core cluster is configured. */
const foreignKinds = [LandscaperDeployment, LandscaperV2, ControlPlane, ReleaseChannel];

/** What stands in the kubeconfig file of the core cluster. */
export const coreKubeconfig = 'the core cluster';

export interface Core {
  /** A file with {@link coreKubeconfig}. */
  readonly file: string;
  readonly transport: Transport;
}

export interface LandscapeOptions {
  /** Of the embedded onboarding cluster. */
  readonly embedded?: Omit<ClusterOptions, 'clock' | 'controllers'>;
  /** Of the embedded control plane. */
  readonly target?: Omit<ClusterOptions, 'clock'>;
}

/**
 * An onboarding cluster, a control plane apart from it (on the real API server: the same cluster in both roles), and whoever serves Landscapers and
 * ControlPlanes. The whole operator runs on it as it is configured in production, with the provider `existing`.
 */
export class Landscape implements AsyncDisposable {
  readonly cluster: TestCluster;
  /** The control plane, with full rights. */
  readonly target: Client;
  /** Whether those who serve Landscapers and ControlPlanes have trouble with them. */
  trouble = false;
  /** What the operator's way to the control plane leads through, with the kubeconfig it comes with. */
  throughTarget: (transport: Transport, kubeconfig: string) => Transport = (transport) => transport;
  /** More settings of the operator. */
  flags: Readonly<Record<string, string>> = {};
  /** The clusters of the Landscaper service and of ControlPlanes, where they are not the onboarding cluster. */
  core: Core | undefined;
  readonly #embedded: EmbeddedCluster | undefined;
  readonly #way = new Way();

  static async open(options: LandscapeOptions = {}): Promise<Landscape> {
    const kinds = [...controlPlaneOperator.kinds, ...foreignKinds];
    const cluster = await testCluster({ kinds, objects: [team, targetSecret, login], embedded: options.embedded });
    try {
      const target = cluster.embedded ? await ownTarget(cluster, options.target) : undefined;
      if (!target) await cluster.install(OpenIDConnect);
      const landscape = new Landscape(cluster, target);
      await warmTokens({ ...cluster, client: landscape.target });
      const trouble: Trouble = () => landscape.trouble;
      await cluster.run([serveLandscapers(trouble), serveSecondLandscapers(trouble), serveControlPlanes(trouble)]);
      return landscape;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(cluster: TestCluster, embedded: EmbeddedCluster | undefined) {
    this.cluster = cluster;
    this.#embedded = embedded;
    this.target = createClient({ transport: this.targetTransport(), fieldManager: 'test', clock: cluster.clock });
  }

  /** Whether the operator gets through to the control plane; watches break off when it does not any more. */
  get reachable(): boolean {
    return this.#way.isOpen;
  }

  set reachable(isOpen: boolean) {
    this.#way.isOpen = isOpen;
  }

  targetTransport(user?: { name: string; groups: string[] }): Transport {
    return this.#embedded ? this.#embedded.transportFor(user ? { user } : {}) : this.cluster.transport();
  }

  readonly connect: ConnectTarget = (kubeconfig) => this.#connect(kubeconfig);

  async #connect(kubeconfig: string, calls?: OtherCalls) {
    if (!this.reachable) throw new Error(`connect ECONNREFUSED ${serverUrl} with ${canary} of ${kubeconfig}`);
    const direct = this.throughTarget(this.targetTransport(), kubeconfig);
    const toTarget = calls ? throughCalls(direct, calls) : direct;
    const transport = kubeconfig === coreKubeconfig ? this.core!.transport : toTarget;
    return watchable(transport, this.cluster.clock, () => this.#way.through(direct));
  }

  /** Those of one process. With `calls` its requests to the control plane go through them, so that it can die at one. */
  controllers(calls?: OtherCalls): readonly Controller[] {
    const flags = {
      provider: 'existing',
      'existing-secret': 'default/target',
      'architecture-config': architectures,
      ...this.flags,
      ...(this.core ? { 'laas-cluster': this.core.file, 'co-cluster': this.core.file } : {}),
    };
    return controlPlaneControllers({ flags, env: {} }, (kubeconfig) => this.#connect(kubeconfig, calls), lookEveryMs);
  }

  async run(transport: Transport = this.cluster.transport()): Promise<TestManager> {
    return await this.cluster.run(this.controllers(), { cluster: { transport } });
  }

  async ready(name = key.name): Promise<ManagedControlPlane> {
    return await this.cluster.eventually(`${name} is ready`, async () => {
      const found = await this.cluster.client.get(ManagedControlPlane, { ...key, name });
      const current = found?.status?.observedGeneration === found?.metadata.generation;
      return current && found?.status?.status === 'Ready' ? found : undefined;
    });
  }

  async gone(name = key.name): Promise<void> {
    await this.cluster.eventually(
      `${name} is gone`,
      async () => !(await this.cluster.client.get(ManagedControlPlane, { ...key, name })),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]();
    await this.#embedded?.stop();
  }
}

function throughCalls(inner: Transport, calls: OtherCalls): Transport {
  return {
    send: (request, signal) => {
      const named = { ...request, path: `(control plane) ${request.path}` };
      return calls.around(named, () => inner.send(request, signal));
    },
    open: (request, handler) => inner.open(request, handler),
    close: () => inner.close(),
  };
}

async function ownTarget({ clock }: TestCluster, options: LandscapeOptions['target']): Promise<EmbeddedCluster> {
  const { startCluster } = await import('@slipway/apiserver');
  const crds = [toCustomResourceDefinition(OpenIDConnect) as never];
  return await startCluster({ ...options, clock, crds, controllers: 'core' });
}
