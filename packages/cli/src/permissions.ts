import type { Kind, KubeObject, PolicyRule } from '@slipway/kube';
import { metricsAccessRules, type OperatorDescription } from '@slipway/runtime';

/** What every manager needs in its own namespace, whichever operator it runs: the lease it leads by. */
const leaseRules: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** What every manager needs everywhere: events about what it does. */
const eventRules: readonly PolicyRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'update', 'patch'] },
];

/** What serving webhooks needs in the manager's namespace: the Secret with the certificate. */
const certificateRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'update', 'patch'] },
];

/** What registering webhooks needs everywhere. */
const registrationRules: readonly PolicyRule[] = [
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
    verbs: ['get', 'create', 'patch'],
  },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'patch'] },
];

/** What the manager of an operator needs besides the operator's own permissions. */
export function managerRules(operator: OperatorDescription): { namespace: PolicyRule[]; cluster: PolicyRule[] } {
  const serves = (operator.webhooks ?? []).length > 0;
  return {
    namespace: [...leaseRules, ...(serves ? certificateRules : [])],
    cluster: [...eventRules, ...(serves ? registrationRules : [])],
  };
}

/** What an operator needs under settings, which are named with its name before the flag's. */
export function rulesUnder(
  { name, permissions, permissionsUnder = [] }: OperatorDescription,
  config: Readonly<Record<string, string>>,
): PolicyRule[] {
  const applies = permissionsUnder.filter(
    ({ flag, value, unless }) =>
      config[`${name}-${flag}`] === value && (unless === undefined || !config[`${name}-${unless}`]),
  );
  return [...permissions, ...applies.flatMap((each) => each.permissions)];
}

/** Whether rules allow a verb on a kind. */
export function allows(rules: readonly PolicyRule[], verb: string, kind: Kind): boolean {
  const has = (values: readonly string[] = [], wanted: string) => values.includes('*') || values.includes(wanted);
  return rules.some(
    ({ apiGroups, resources, verbs, resourceNames = [] }) =>
      has(apiGroups, kind.group) && has(resources, kind.plural) && has(verbs, verb) && resourceNames.length === 0,
  );
}

export interface RbacOptions {
  /** How the names begin. Default `slipway`. */
  readonly name?: string;
  /** Where the ServiceAccounts are. Default `slipway-system`. */
  readonly namespace?: string;
  /** Whether the metrics of an operator ask for a token: its manager then asks the API server whose it is. Default: no. */
  readonly asksForToken?: (operator: OperatorDescription) => boolean;
  /** The settings of an operator, by names with its own before the flag's. Default: none. */
  readonly configOf?: (operator: OperatorDescription) => Readonly<Record<string, string>>;
  /** On the objects of an operator. Default: `app.kubernetes.io/name: slipway`. */
  readonly labelsOf?: (operator: OperatorDescription) => Readonly<Record<string, string>>;
}

const rbac = 'rbac.authorization.k8s.io';

/** The exact permissions of the chosen operators: for each a ServiceAccount of its own, its roles and their bindings. */
export function rbacObjects(operators: readonly OperatorDescription[], options: RbacOptions = {}): KubeObject[] {
  const { labelsOf = () => ({ 'app.kubernetes.io/name': 'slipway' }) } = options;
  const { name = 'slipway', namespace = 'slipway-system', asksForToken = () => false, configOf = () => ({}) } = options;
  return operators.flatMap((operator) => {
    const account = `${name}-${operator.name}`;
    const role = (kind: 'Role' | 'ClusterRole', called: string, rules: readonly PolicyRule[]): KubeObject[] => {
      const metadata = () => ({
        name: called,
        ...(kind === 'Role' ? { namespace } : {}),
        labels: { ...labelsOf(operator) },
      });
      return [
        { apiVersion: `${rbac}/v1`, kind, metadata: metadata(), rules },
        {
          apiVersion: `${rbac}/v1`,
          kind: `${kind}Binding`,
          metadata: metadata(),
          roleRef: { apiGroup: rbac, kind, name: called },
          subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
        },
      ];
    };
    const manager = managerRules(operator);
    return [
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: account, namespace, labels: { ...labelsOf(operator) } },
      },
      ...role('Role', `${account}-manager`, manager.namespace),
      ...role('ClusterRole', `${account}-manager`, [
        ...manager.cluster,
        ...(asksForToken(operator) ? metricsAccessRules : []),
      ]),
      ...role('ClusterRole', account, rulesUnder(operator, configOf(operator))),
    ];
  });
}
