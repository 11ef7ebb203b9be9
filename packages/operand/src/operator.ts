import type { PolicyRule } from '@slipway/kube';
import type { OperatorDescription, OperatorFlag, OperatorSettings } from '@slipway/runtime';

import { parseAccount, type AccountSettings } from './account.ts';
import { activeOperandControllers } from './active/controllers.ts';
import { ActiveOperand, ClusterActiveOperand, Operand } from './api.ts';
import { operandController } from './operand/controller.ts';
import { reasons } from './reasons.ts';

const flags: readonly OperatorFlag[] = [
  {
    name: 'default-service-account',
    description: 'NAMESPACE/NAME of the ServiceAccount to act as for Operands that name none',
    type: 'string',
  },
  {
    name: 'require-service-account',
    description:
      'refuse Operands without a ServiceAccount; the operator then needs no rights of its own on what they hold',
    default: 'false',
    type: 'boolean',
  },
  {
    name: 'no-cross-namespace-refs',
    description: 'refuse sources outside the namespace of the ServiceAccount',
    default: 'false',
    type: 'boolean',
  },
];

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

const ownKinds: readonly PolicyRule[] = [
  {
    apiGroups: [Operand.group],
    resources: ['operands', 'clusteractiveoperands', 'activeoperands'],
    verbs: everything,
  },
  {
    apiGroups: [Operand.group],
    resources: ['operands/status', 'clusteractiveoperands/status', 'activeoperands/status'],
    verbs: ['get', 'update', 'patch'],
  },
  {
    apiGroups: [Operand.group],
    resources: ['operands/finalizers', 'clusteractiveoperands/finalizers', 'activeoperands/finalizers'],
    verbs: ['update'],
  },
];

/** For Operands with an account. */
const actingAsAccounts: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
];

/** What is needed where every Operand has an account: the accounts hold the rights on what is in the manifests. */
const impersonating: readonly PolicyRule[] = [
  ...ownKinds,
  ...actingAsAccounts,
  // What may stand in the way of an Operand, see operand/obstacles.ts.
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: [
      'validatingwebhookconfigurations',
      'mutatingwebhookconfigurations',
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
    ],
    verbs: ['get', 'list', 'watch'],
  },
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'],
    verbs: ['get', 'list', 'watch'],
  },
];

function settingsFrom({ flags: given }: OperatorSettings): AccountSettings {
  const account = given['default-service-account'];
  return {
    defaultAccount: account ? parseAccount(account) : undefined,
    requireAccount: given['require-service-account'] === 'true',
    noCrossNamespaceRefs: given['no-cross-namespace-refs'] === 'true',
  };
}

/** The Operand operator, as the command line and the chart see it. */
export const operandOperator: OperatorDescription = {
  name: 'operand',
  title: 'Operand',
  summary: 'A manifest as an object: install, post-install, revisions and safe pruning.',
  kinds: [Operand, ClusterActiveOperand, ActiveOperand],
  permissions: [
    ...ownKinds,
    // Manifests hold anything, so the operator must be able to manage anything; `bind` and `escalate` are for manifests with roles.
    { apiGroups: ['*'], resources: ['*'], verbs: everything },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'clusterroles'], verbs: ['bind', 'escalate'] },
    ...actingAsAccounts,
  ],
  permissionVariants: [
    {
      name: 'impersonate',
      description:
        'the small role of an operator that acts as a ServiceAccount for every Operand (--require-service-account)',
      permissions: () => impersonating,
    },
  ],
  flags,
  examples: [
    {
      name: 'hello-operand',
      description: 'a namespace with a configured Deployment, installed and kept by one Operand',
      manifest: helloOperand(),
    },
  ],
  reasons: reasons.explanations,
  controllers(given) {
    const settings = settingsFrom(given);
    return [operandController(settings), ...activeOperandControllers(settings)];
  },
};

function helloOperand(): string {
  return `apiVersion: operand.run.cloud.google.com/v1alpha1
kind: Operand
metadata:
  name: hello
spec:
  checkDeploymentHealth: true
  steadyState:
    - apiVersion: v1
      kind: Namespace
      metadata:
        name: hello
    - apiVersion: v1
      kind: ConfigMap
      metadata:
        name: greeting
        namespace: hello
      data:
        text: hello from a slipway
    - apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
        namespace: hello
      spec:
        replicas: 2
        selector:
          matchLabels:
            app: web
        template:
          metadata:
            labels:
              app: web
          spec:
            containers:
              - name: web
                image: registry.k8s.io/pause:3.10
                envFrom:
                  - configMapRef:
                      name: greeting
  postInstall:
    - apiVersion: v1
      kind: ConfigMap
      metadata:
        name: installed
        namespace: hello
      data:
        note: written once the Deployment was healthy
`;
}
