import type { KubeObject, PolicyRule } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

/** What every manager needs in its own namespace, whichever operators it runs: the lease it leads by. */
export const leaseRules: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** What every manager needs everywhere: events about what it does. */
export const eventRules: readonly PolicyRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'update', 'patch'] },
];

export interface RbacOptions {
  /** Name of the ServiceAccount, and how the roles' names begin. Default `slipway`. */
  readonly name?: string;
  /** Where the ServiceAccount is. Default `slipway-system`. */
  readonly namespace?: string;
  /** On every object. Default: `app.kubernetes.io/name: slipway`. */
  readonly labels?: Readonly<Record<string, string>>;
}

const rbac = 'rbac.authorization.k8s.io';

/** The exact permissions of the chosen operators: ServiceAccount, one ClusterRole per operator, bindings. */
export function rbacObjects(operators: readonly OperatorDescription[], options: RbacOptions = {}): KubeObject[] {
  const { name = 'slipway', namespace = 'slipway-system', labels = { 'app.kubernetes.io/name': 'slipway' } } = options;
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const role = (kind: 'Role' | 'ClusterRole', called: string, rules: readonly PolicyRule[]): KubeObject[] => {
    const metadata = { name: called, ...(kind === 'Role' ? { namespace } : {}), labels: { ...labels } };
    return [
      { apiVersion: `${rbac}/v1`, kind, metadata, rules },
      {
        apiVersion: `${rbac}/v1`,
        kind: `${kind}Binding`,
        metadata: { ...metadata, labels: { ...labels } },
        roleRef: { apiGroup: rbac, kind, name: called },
        subjects,
      },
    ];
  };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels: { ...labels } } },
    ...role('Role', `${name}-leader-election`, leaseRules),
    ...role('ClusterRole', `${name}-events`, eventRules),
    ...operators.flatMap((operator) => role('ClusterRole', `${name}-${operator.name}`, operator.permissions)),
  ];
}
