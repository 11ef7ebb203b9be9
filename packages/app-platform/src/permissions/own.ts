import type { PolicyRule } from '@slipway/kube';

import { names } from '../names.ts';

const core = '';
const read = ['get', 'list', 'watch'];

/** What the operator does itself, whichever platform it installs. */
export const ownPermissions: readonly PolicyRule[] = [
  // Two processes must never apply at once. The lease is outside the namespace of the manager, where no other rule reaches.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [names.lease.name],
    verbs: ['get', 'update'],
  },
  // Its records; it watches those of its own namespace.
  { apiGroups: [core], resources: ['configmaps'], verbs: [...read, 'create', 'patch'] },
  // What the installation made, credentials of repositories, and how Helm keeps its releases.
  { apiGroups: [core], resources: ['secrets'], verbs: ['get', 'list', 'create', 'patch', 'delete'] },
  // The namespaces its records and releases are in, where nobody made them yet.
  { apiGroups: [core], resources: ['namespaces'], verbs: ['get', 'create', 'patch'] },
  // One Application for each release, and its synchronization where Argo CD does not do it.
  { apiGroups: ['argoproj.io'], resources: ['applications'], verbs: [...read, 'create', 'patch', 'delete'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: [...read, 'create'] },
  // Whether Argo CD's own controller is here.
  { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: ['list', 'watch'] },
];

/** What it does besides with the kinds of the reference platform. */
export const referencePermissions: readonly PolicyRule[] = [
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['patch'] },
  { apiGroups: [core], resources: ['namespaces'], verbs: ['list'] },
  { apiGroups: [core], resources: ['resourcequotas', 'serviceaccounts'], verbs: ['list', 'create', 'patch'] },
  { apiGroups: [core], resources: ['configmaps'], verbs: ['delete'] },
  { apiGroups: [core], resources: ['secrets'], verbs: ['watch'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'create', 'patch', 'delete'] },
];

/** For who lets the operator install whatever turns up: everything. */
export const allPermissions: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];
