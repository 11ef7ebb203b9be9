import type { Kind, PolicyRule } from '@slipway/kube';

import { ReleaseChannel } from './cloud-orchestrator/managed-components.ts';
import { ControlPlane } from './cloud-orchestrator/hand-off.ts';
import { LandscaperDeployment, LandscaperV2 } from './landscaper/kinds.ts';
import { names } from './names.ts';

const components = ['apiservers', 'authentications', 'authorizations', 'landscapers', 'cloudorchestrators'];
const finalizersOf = (plurals: readonly string[]): string[] => plurals.map((plural) => `${plural}/finalizers`);
const statusOf = (plurals: readonly string[]): string[] => plurals.map((plural) => `${plural}/status`);
const ours = (resources: readonly string[], ...verbs: string[]): PolicyRule => ({
  apiGroups: [names.group],
  resources: [...resources],
  verbs,
});
const core = (resource: string, ...verbs: string[]): PolicyRule => ({ apiGroups: [''], resources: [resource], verbs });
const external = ({ group, plural }: Kind, ...verbs: string[]): PolicyRule => ({
  apiGroups: [group],
  resources: [plural],
  verbs,
});

/** On the onboarding cluster, whatever else is where. */
export const onboardingPermissions: readonly PolicyRule[] = [
  ours(['managedcontrolplanes'], 'get', 'list', 'watch', 'patch'),
  ours(['managedcontrolplanes/status'], 'patch'),
  // A server may ask for it from whoever makes an owner reference that blocks deletion.
  ours(['managedcontrolplanes/finalizers'], 'update'),
  ours(['internalconfigurations'], 'list', 'watch', 'patch'),
  ours(components, 'get', 'list', 'watch', 'create', 'update', 'patch', 'delete'),
  ours(statusOf(components), 'patch'),
  ours(finalizersOf(['apiservers']), 'update'),
  ours(['clusteradmins'], 'get', 'list', 'watch', 'patch', 'delete'),
  ours(['clusteradmins/status'], 'patch'),
  ours(['managedcomponents'], 'list', 'watch', 'create', 'delete'),
  ours(['managedcomponents/status'], 'patch'),
  external(LandscaperV2, 'get', 'list', 'create', 'patch', 'delete'),
  core('namespaces', 'get', 'list', 'watch'),
  core('secrets', 'get', 'create', 'patch', 'delete'),
];

/** On the cluster that runs hosted control planes. */
export const hostPermissions: readonly PolicyRule[] = [
  core('namespaces', 'get', 'create', 'patch', 'delete'),
  core('services', 'get', 'create', 'patch'),
  core('secrets', 'get', 'create', 'update'),
  core('configmaps', 'get', 'create', 'patch'),
  core('pods', 'list'),
  core('persistentvolumeclaims', 'list', 'delete'),
  { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: ['get', 'create', 'patch', 'delete'] },
];

const deployments = external(LandscaperDeployment, 'get', 'list', 'create', 'patch', 'delete');

/** On the cluster of the Landscaper service. */
export const landscaperPermissions: readonly PolicyRule[] = [deployments, core('namespaces', 'get', 'create')];

/** On the cluster with ControlPlanes. */
export const orchestratorPermissions: readonly PolicyRule[] = [
  external(ControlPlane, 'get', 'list', 'create', 'patch', 'delete'),
  external(ReleaseChannel, 'list'),
];

/** On the onboarding cluster where it is also the other two: the namespaces are there already. */
export const oneClusterPermissions: readonly PolicyRule[] = [
  ...onboardingPermissions,
  deployments,
  ...orchestratorPermissions,
];
