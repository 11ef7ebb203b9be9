import type { KubeObject, PolicyRule } from '@slipway/kube';

import { names } from '../names.ts';
import type { AuthorizationConfig, RoleName, RoleScope, Subject } from './config.ts';

const rbac = 'rbac.authorization.k8s.io';
const aggregate = (role: string): string => `openmcp.cloud/aggregate-to-${role}`;

/** Roles that components bring along, by the label they carry. */
const fromComponents: Readonly<Record<string, readonly string[]>> = {
  admin: ['rbac.landscaper.gardener.cloud/aggregate-to-admin'],
  'admin-clusterscoped': ['rbac.crossplane.io/aggregate-to-admin', 'core.orchestrate.cloud.sap/aggregate-to-admin'],
  view: ['rbac.landscaper.gardener.cloud/aggregate-to-view'],
  'view-clusterscoped': ['rbac.crossplane.io/aggregate-to-view', 'core.orchestrate.cloud.sap/aggregate-to-view'],
};

export const managedBy = { [names.managedByLabel]: 'Authorization' };

/** The eight ClusterRoles of a control plane: four that people are bound to, and four that carry our rules into them. */
export function clusterRoles(config: AuthorizationConfig, userNamespaces: readonly string[]): KubeObject[] {
  const ownNamespaces: PolicyRule[] =
    userNamespaces.length === 0
      ? []
      : [
          {
            apiGroups: [''],
            resources: ['namespaces'],
            resourceNames: [...userNamespaces],
            verbs: ['update', 'patch', 'delete'],
          },
        ];
  return [
    aggregated('openmcp:admin', config.admin.namespaceScoped, 'admin'),
    aggregated('openmcp:admin:clusterscoped', config.admin.clusterScoped, 'admin-clusterscoped'),
    aggregated('openmcp:view', config.view.namespaceScoped, 'view'),
    aggregated('openmcp:view:clusterscoped', config.view.clusterScoped, 'view-clusterscoped'),
    carrier('openmcp:aggregate-to-admin', config.admin.namespaceScoped, ['admin']),
    carrier(
      'openmcp:clusterscoped:aggregate-to-admin',
      config.admin.clusterScoped,
      ['admin-clusterscoped'],
      ownNamespaces,
    ),
    // Whoever may change things may look at them.
    carrier('openmcp:aggregate-to-view', config.view.namespaceScoped, ['view', 'admin']),
    carrier('openmcp:clusterscoped:aggregate-to-view', config.view.clusterScoped, [
      'view-clusterscoped',
      'admin-clusterscoped',
    ]),
  ];
}

function aggregated(name: string, scope: RoleScope, group: string): KubeObject {
  const own = [aggregate(group), ...(fromComponents[group] ?? [])].map((label) => ({
    matchLabels: { [label]: 'true' },
  }));
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name, labels: managedBy },
    // The rules are the aggregation's to write: a field of ours would fight with it.
    aggregationRule: { clusterRoleSelectors: [...(scope.clusterRoleSelectors ?? []), ...own] },
  };
}

function carrier(
  name: string,
  scope: RoleScope,
  groups: readonly string[],
  more: readonly PolicyRule[] = [],
): KubeObject {
  const labels = Object.fromEntries(groups.map((group) => [aggregate(group), 'true']));
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name, labels: { ...scope.labels, ...labels, ...managedBy } },
    rules: [...scope.rules, ...more],
  };
}

/** Who has the cluster-wide part of a role. */
export function clusterRoleBinding(role: RoleName, subjects: readonly Subject[]): KubeObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `openmcp:${role}`, labels: managedBy },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: `openmcp:${role}:clusterscoped` },
    ...subjectsField(subjects),
  };
}

/** Who has the rest of it, in one namespace. */
export function roleBinding(role: RoleName, namespace: string, subjects: readonly Subject[]): KubeObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: `openmcp:${role}`, namespace, labels: managedBy },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: `openmcp:${role}` },
    ...subjectsField(subjects),
  };
}

/** A server keeps no empty list: stated again and again, it would look like a difference. */
function subjectsField(subjects: readonly Subject[]): { subjects?: Subject[] } {
  return subjects.length > 0 ? { subjects: [...subjects] } : {};
}
