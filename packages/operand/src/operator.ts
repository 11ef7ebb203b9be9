import type { OperatorDescription } from '@slipway/runtime';

import { activeOperandControllers } from './active/controllers.ts';
import { ActiveOperand, ClusterActiveOperand, Operand } from './api.ts';
import { operandController } from './operand/controller.ts';
import { reasons } from './reasons.ts';

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** The Operand operator, as the command line and the chart see it. */
export const operandOperator: OperatorDescription = {
  name: 'operand',
  title: 'Operand',
  summary: 'A manifest as an object: install, post-install, revisions and safe pruning.',
  kinds: [Operand, ClusterActiveOperand, ActiveOperand],
  permissions: [
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
    // Manifests hold anything, so the operator must be able to manage anything; `bind` and `escalate` are for manifests with roles.
    { apiGroups: ['*'], resources: ['*'], verbs: everything },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'clusterroles'], verbs: ['bind', 'escalate'] },
  ],
  examples: [
    {
      name: 'hello-operand',
      description: 'a namespace with a configured Deployment, installed and kept by one Operand',
      manifest: helloOperand(),
    },
  ],
  reasons,
  controllers: () => [operandController(), ...activeOperandControllers()],
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
