import type { PolicyRule } from '@slipway/kube';

import { names } from './names.ts';

/** What it takes to keep objects of a kind as they should be, and to remove them. */
export const keep = ['get', 'list', 'watch', 'create', 'patch', 'deletecollection'];

/** What the manager does itself. */
export const ownPermissions: readonly PolicyRule[] = [
  { apiGroups: [names.group], resources: ['btpoperators'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [names.group], resources: ['btpoperators/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['secrets'], verbs: [...keep, 'delete'] },
  { apiGroups: [''], resources: ['configmaps', 'services', 'serviceaccounts'], verbs: keep },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'delete'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: [...keep, 'delete'] },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: [...keep, 'delete'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    verbs: [...keep, 'delete'],
  },
  { apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'], verbs: keep },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: keep },
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    verbs: keep,
  },
  {
    apiGroups: ['services.cloud.sap.com'],
    resources: ['serviceinstances', 'servicebindings'],
    verbs: ['list', 'watch', 'patch', 'delete', 'deletecollection'],
  },
];

/** What it hands on to the service operator: nobody may give away what he does not have. */
export const handedOn: readonly PolicyRule[] = [
  {
    apiGroups: ['services.cloud.sap.com'],
    resources: ['serviceinstances', 'servicebindings'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  {
    apiGroups: ['services.cloud.sap.com'],
    resources: ['serviceinstances/status', 'servicebindings/status'],
    verbs: ['get', 'update', 'patch'],
  },
  {
    apiGroups: [''],
    resources: ['secrets', 'events', 'configmaps'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['configmaps/status'], verbs: ['get', 'update', 'patch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'create', 'update'] },
];

/** What the optional CA bundle probe needs besides. */
export const probePermissions: readonly PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'create', 'delete'] },
];
