import { ClusterRole, ConfigMap, type KubeObject, type ObjectKey, Secret, ServiceAccount } from '@slipway/kube';
import { type Controller, controller } from '@slipway/runtime';

import { ClusterAdmin } from '../src/api/cluster-admin.ts';
import { apiServerComponent } from '../src/api-server/component.ts';
import type { ApiServerProvider } from '../src/api-server/provider.ts';
import { existingProvider } from '../src/api-server/providers/existing.ts';
import { authenticationComponent } from '../src/authentication/component.ts';
import { OpenIDConnect } from '../src/target/open-id-connect.ts';
import { authorizationComponent } from '../src/authorization/component.ts';
import { componentController } from '../src/component/define-component.ts';
import type { CoreCluster } from '../src/core-cluster.ts';
import type { ConnectTarget } from '../src/target/target.ts';
import { catalogueOf } from '../src/cloud-orchestrator/catalogue.ts';
import { cloudOrchestratorComponent } from '../src/cloud-orchestrator/component.ts';
import { ControlPlane } from '../src/cloud-orchestrator/hand-off.ts';
import { landscaperComponent } from '../src/landscaper/component.ts';
import { LandscaperDeployment, LandscaperV2 } from '../src/landscaper/kinds.ts';
import { type ContractSubject, targetSubject, type TargetSubjectParts } from '../src/testing/index.ts';
import { lookEveryMs } from './look-every.ts';
import { dependenciesOf } from './plain-subject.ts';

const clusterOptions = { kinds: [ClusterAdmin, OpenIDConnect, LandscaperDeployment, ControlPlane] };

type Parts = Omit<TargetSubjectParts, 'dependsOn' | 'clusterOptions'>;

const realSubject = (parts: Parts, make: (connect: ConnectTarget) => Controller): ContractSubject =>
  targetSubject({ ...parts, dependsOn: dependenciesOf[parts.type], clusterOptions }, make);

/** An existing server that cannot be let go while the way to it is broken. */
function provider(connect: ConnectTarget): ApiServerProvider {
  const existing = existingProvider({ secret: secretKey });
  return {
    ...existing,
    async remove(context) {
      await connect('');
      return await existing.remove(context);
    },
  };
}

const secretKey = { namespace: 'default', name: 'target', key: 'kubeconfig' };

export const realSubjects: readonly ContractSubject[] = [
  realSubject(
    {
      type: 'APIServer',
      spec: { type: 'Gardener' },
      otherSpec: { type: 'Gardener', desiredRegion: { name: 'asia' } },
      // The server itself was there before; what the component makes is our access.
      hasMade: async ({ client }, key: ObjectKey) =>
        (await client.get(Secret, { namespace: key.namespace, name: `${key.name}.apiserver-admin` })) !== undefined &&
        (await client.get(ServiceAccount, { namespace: 'openmcp-system', name: 'admin' })) !== undefined,
    },
    (connect) => componentController(apiServerComponent({ provider: provider(connect), connect })),
  ),
  realSubject(
    {
      type: 'Authentication',
      spec: { identityProviders: [{ name: 'corp', issuerURL: 'https://i', clientID: 'c', usernameClaim: 's' }] },
      otherSpec: { identityProviders: [{ name: 'corp', issuerURL: 'https://j', clientID: 'c', usernameClaim: 's' }] },
      hasMade: async ({ client }) => (await client.get(OpenIDConnect, { name: 'corp' })) !== undefined,
    },
    (connect) => componentController(authenticationComponent({ connect, config: {} })),
  ),
  realSubject(
    {
      type: 'Authorization',
      spec: { roleBindings: [{ role: 'view', subjects: [{ kind: 'User', name: 'bob' }] }] },
      otherSpec: { roleBindings: [{ role: 'view', subjects: [{ kind: 'User', name: 'eve' }] }] },
      hasMade: async ({ client }) => (await client.get(ClusterRole, { name: 'openmcp:view' })) !== undefined,
    },
    (connect) => componentController(authorizationComponent({ connect })),
  ),
  served(
    realSubject(
      {
        type: 'Landscaper',
        spec: { deployers: ['helm'] },
        otherSpec: { deployers: ['manifest'] },
        hasMade: async ({ client }, key) => (await client.get(LandscaperDeployment, key)) !== undefined,
      },
      (connect) => componentController(landscaperComponent({ connect, core: broken(connect), lookEveryMs })),
    ),
    serveLandscapers,
  ),
  served(
    realSubject(
      {
        type: 'CloudOrchestrator',
        spec: { flux: { version: '1.0.0' } },
        otherSpec: { flux: { version: '2.0.0' } },
        hasMade: async ({ client }) => (await client.get(ControlPlane, { name: 'default--contract' })) !== undefined,
      },
      (connect) =>
        componentController(cloudOrchestratorComponent({ connect, work: { core: broken(connect) }, lookEveryMs })),
    ),
    serveControlPlanes,
  ),
  realSubject(
    {
      type: 'CloudOrchestrator',
      spec: { flux: { version: '1.0.0' } },
      otherSpec: { flux: { version: '2.0.0' } },
      hasMade: async ({ client }) =>
        (await client.get(ConfigMap, { namespace: 'default', name: 'flux' })) !== undefined,
    },
    (connect) => componentController(cloudOrchestratorComponent({ connect, work: { catalogue } })),
  ),
];

const flux = (version: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'flux' },
  data: { version },
});
const catalogue = catalogueOf({
  flux: { '1.0.0': async () => ({ objects: [flux('1.0.0')] }), '2.0.0': async () => ({ objects: [flux('2.0.0')] }) },
});

/** The onboarding cluster as core, out of reach when the target is. */
function broken(connect: ConnectTarget): CoreCluster {
  return async ({ client }) => {
    await connect('');
    return client;
  };
}

/** Adds the other side: a controller that says that all is well with what it is handed. */
function served(subject: ContractSubject, serve: (trouble?: Trouble) => Controller): ContractSubject {
  return {
    ...subject,
    async prepare(cluster, key) {
      await subject.prepare?.(cluster, key);
      await cluster.run([serve()]);
    },
  };
}

/** Whether the other side has trouble with what it was handed. It hears of that when the object changes. */
export type Trouble = () => boolean;
const none: Trouble = () => false;

export function serveLandscapers(trouble = none): Controller {
  return controller({
    name: 'laas',
    for: LandscaperDeployment,
    async reconcile({ client }, key) {
      const found = await client.get(LandscaperDeployment, key);
      if (!found) return;
      const status = { phase: trouble() ? 'Failed' : 'Succeeded', observedGeneration: found.metadata.generation };
      await client.patch(LandscaperDeployment, key, { type: 'merge', body: { status } }, { subresource: 'status' });
    },
  });
}

export function serveSecondLandscapers(trouble = none): Controller {
  return controller({
    name: 'second-laas',
    for: LandscaperV2,
    async reconcile({ client }, key) {
      const found = await client.get(LandscaperV2, key);
      if (!found) return;
      const status = { phase: trouble() ? 'Failed' : 'Ready', observedGeneration: found.metadata.generation };
      await client.patch(LandscaperV2, key, { type: 'merge', body: { status } }, { subresource: 'status' });
    },
  });
}

export function serveControlPlanes(trouble = none): Controller {
  return controller({
    name: 'co',
    for: ControlPlane,
    async reconcile({ client }, key) {
      if (!(await client.get(ControlPlane, key))) return;
      const conditions = [{ type: 'Ready', status: trouble() ? 'False' : 'True' }];
      const status = { conditions, componentsEnabled: 1, componentsHealthy: 1 };
      await client.patch(ControlPlane, key, { type: 'merge', body: { status } }, { subresource: 'status' });
    },
  });
}
