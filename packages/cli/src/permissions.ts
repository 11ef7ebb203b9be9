import type { KubeObject, PolicyRule } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

/** What every manager needs, whichever operators it runs: its lease, and events about what it does. */
export const managerRules: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'update', 'patch'] },
];

export interface RbacOptions {
  /** Names of the ServiceAccount, ClusterRole and ClusterRoleBinding. Default `slipway`. */
  readonly name?: string;
  /** Where the ServiceAccount is. Default `slipway-system`. */
  readonly namespace?: string;
}

/** The exact permissions of the chosen operators: ServiceAccount, one ClusterRole per operator, bindings. */
export function rbacObjects(operators: readonly OperatorDescription[], options: RbacOptions = {}): KubeObject[] {
  const { name = 'slipway', namespace = 'slipway-system' } = options;
  const labels = { 'app.kubernetes.io/name': 'slipway' };
  const roles = [
    { role: `${name}-manager`, rules: managerRules },
    ...operators.map((operator) => ({ role: `${name}-${operator.name}`, rules: operator.permissions })),
  ];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels } },
    ...roles.flatMap(({ role, rules }): KubeObject[] => [
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: role, labels }, rules },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: role, labels },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      },
    ]),
  ];
}
