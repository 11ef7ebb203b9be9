import type { KubeObject } from '@slipway/kube';

import { componentTypes, kindOf } from '../component/component-type.ts';
import { names } from '../names.ts';

const name = 'mcp-architecture-immutability';
const labels = {
  [names.managedByLabel]: 'ManagedControlPlaneOperator',
  [names.purposeLabel]: 'architecture-immutability',
};
const label = `'${names.architectureLabel}'`;
const versionOf = (object: string): string => `${object}.metadata.labels[${label}]`;
const has = (object: string): string => `has(${object}.metadata.labels) && ${label} in ${object}.metadata.labels`;

/** A component is made for one architecture and stays there: its controllers on both sides would fight for it otherwise. */
export const architecturePolicies: readonly KubeObject[] = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, labels },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [names.group],
            apiVersions: [names.version],
            operations: ['CREATE', 'UPDATE'],
            resources: componentTypes.map((type) => kindOf(type).plural),
          },
        ],
      },
      validations: [
        {
          expression: `(${has('object')}) ? ${versionOf('object')} in ['v1', 'v2'] : request.operation == 'UPDATE' && !(${has('oldObject')})`,
          message: `The label "${names.architectureLabel}" must be v1 or v2.`,
        },
        {
          expression: `request.operation == 'CREATE' || ((${has('oldObject')}) ? (${has('object')}) && ${versionOf('object')} == ${versionOf('oldObject')} : !(${has('object')}) || ${versionOf('object')} == 'v1')`,
          message: `The label "${names.architectureLabel}" is immutable.`,
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name, labels },
    spec: { policyName: name, validationActions: ['Deny'] },
  },
];
