import { createClient, type KubeObject, type Transport } from '@slipway/kube';
import type { Controller } from '@slipway/runtime';
import { testCluster, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ClusterAdmin } from '../src/api/cluster-admin.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { authenticationComponent } from '../src/authentication/component.ts';
import { authorizationComponent } from '../src/authorization/component.ts';
import { catalogueOf } from '../src/cloud-orchestrator/catalogue.ts';
import { cloudOrchestratorComponent } from '../src/cloud-orchestrator/component.ts';
import { clusterAdminController } from '../src/cluster-admin/controller.ts';
import type { ReadonlyComponent } from '../src/component/component-resource.ts';
import { componentKinds, kindOf } from '../src/component/component-type.ts';
import { componentController } from '../src/component/define-component.ts';
import { names } from '../src/names.ts';
import { tokenKubeconfig } from '../src/target/kubeconfig.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import type { ConnectTarget } from '../src/target/target.ts';
import { refused } from './way.ts';

/** Control planes that take requests and answer none, until somebody gives up. */
class Hole implements Disposable {
  readonly #waiting = new Set<(error: Error) => void>();
  #isClosed = false;

  get waiting(): number {
    return this.#waiting.size;
  }

  readonly transport: Transport = {
    send: async () => {
      if (this.#isClosed) throw refused();
      return await new Promise((_resolve, reject) => this.#waiting.add(reject));
    },
    open: () => ({ abort: () => undefined }),
    close: async () => undefined,
  };

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const giveUp of this.#waiting) giveUp(refused());
  }
}

const subjects = [{ kind: 'User', name: 'corp:ann' }];
const corp = { name: 'corp', issuerURL: 'https://login.example.com', clientID: 'c', usernameClaim: 'email' };
const specs = {
  APIServer: { type: 'Gardener' },
  Authentication: { identityProviders: [corp] },
  Authorization: { roleBindings: [{ role: 'admin', subjects }] },
  CloudOrchestrator: { flux: { version: '1.0.0' } },
} as const;
const types = ['Authentication', 'Authorization', 'CloudOrchestrator'] as const;

/** Everything that works on control planes, besides the controller of APIServers. */
function controllers(connect: ConnectTarget): Controller[] {
  const catalogue = catalogueOf({ flux: { '1.0.0': async () => ({ objects: [] }) } });
  return [
    componentController(authenticationComponent({ connect, config: {} })),
    componentController(authorizationComponent({ connect })),
    componentController(cloudOrchestratorComponent({ connect, work: { catalogue } })),
    clusterAdminController({ connect }),
  ];
}

const keyOf = (name: string) => ({ namespace: 'default', name });

/** Plays the controllers of ManagedControlPlanes and APIServers: all resources of a control plane, whose API server is said to be ready. */
async function make({ client }: TestCluster, name: string): Promise<void> {
  const kubeconfig = tokenKubeconfig({ server: `https://${name}.example`, token: 't', user: 'admin' });
  await client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: keyOf(name),
    stringData: { kubeconfig },
  } as KubeObject);
  const metadata = { ...keyOf(name), labels: { [names.mcpGenerationLabel]: '1' } };
  for (const type of ['APIServer', ...types] as const) {
    const { apiVersion, kind } = kindOf(type);
    await client.create({ apiVersion, kind, metadata, spec: specs[type] } as KubeObject);
  }
  const status = {
    conditions: ['APIServerHealthy', 'APIServerReconciliation'].map((type) => ({ type, status: 'True' })),
    observedGenerations: { resource: 1, managedControlPlane: 1, internalConfiguration: -1 },
    adminAccess: { secretRef: { name, key: 'kubeconfig' } },
  };
  await client.patch(kindOf('APIServer'), metadata, { type: 'merge', body: { status } }, { subresource: 'status' });
  await client.create({
    apiVersion: ClusterAdmin.apiVersion,
    kind: 'ClusterAdmin',
    metadata: keyOf(name),
    spec: { subjects },
  } as KubeObject);
}

async function isWell({ client }: TestCluster, name: string): Promise<boolean> {
  const found = await Promise.all(types.map((type) => client.get(kindOf(type), keyOf(name))));
  const well = found.every((each) => {
    const { conditions = [] } = (each as ReadonlyComponent | undefined)?.status ?? {};
    return conditions.length > 0 && conditions.every(({ status }) => status === 'True');
  });
  return well && (await client.get(ClusterAdmin, keyOf(name)))?.status?.active === true;
}

test('five control planes that answer nothing do not delay the sixth, in no component', async () => {
  await using cluster = await testCluster({
    kinds: [ManagedControlPlane, ClusterAdmin, OpenIDConnect, ...Object.values(componentKinds)],
  });
  // Closed before the cluster is: what waits has to end first.
  using hole = new Hole();
  await cluster.run(
    controllers(async (kubeconfig) => {
      const transport = kubeconfig.includes('dead') ? hole.transport : cluster.transport();
      const client = createClient({ transport, fieldManager: 'control-plane', clock: cluster.clock });
      return { client, server: 'https://target.example' };
    }),
  );
  const dead = Array.from({ length: 5 }, (_, index) => `dead-${index}`);
  for (const name of dead) await make(cluster, name);
  await cluster.eventually('each of four controllers waits for five of them', () => hole.waiting === 20);
  await make(cluster, 'live');
  await cluster.eventually('the sixth is well', () => isWell(cluster, 'live'));
  expect(hole.waiting).toBe(20);
});
