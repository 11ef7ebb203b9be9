import { ConditionSchema, defineKind, kindOf, Time, Type, type KubeObject, type ObjectOf } from '@slipway/kube';

import { names } from './names.ts';

export const states = ['Processing', 'Deleting', 'Ready', 'Error', 'Warning'] as const;
export type State = (typeof states)[number];

/** The SAP BTP service operator on this cluster, as one object. Its existence asks for it; its status says how it is. */
export const BtpOperator = defineKind({
  group: names.group,
  version: 'v1alpha1',
  kind: 'BtpOperator',
  scope: 'Namespaced',
  plural: 'btpoperators',
  singular: 'btpoperator',
  categories: ['kyma-modules', 'kyma-btp-operator'],
  description: 'Asks for the SAP BTP service operator on this cluster.',
  spec: Type.Optional(
    Type.Unsafe<Record<string, never> | null>({
      type: 'object',
      nullable: true,
      description: 'Nothing to choose; kept for clients that send it.',
    }),
  ),
  status: Type.Object({
    state: Type.Enum([...states], { description: 'Where the module stands.' }),
    conditions: Type.Optional(Type.Array(ConditionSchema, { description: 'The Ready condition.' })),
    chartVersion: Type.Optional(Type.String({ description: 'The chart version that was last installed completely.' })),
    waitingSince: Type.Optional(Time({ description: 'Since when resources have been applied but not ready.' })),
    hardDeleteStartedAt: Type.Optional(
      Time({ description: 'When the deletion of service instances and bindings began.' }),
    ),
    hardDeleteSeenAt: Type.Optional(
      Time({
        description: 'When somebody last looked at it, to the minute; time in which nobody could does not count.',
      }),
    ),
    removalStartedAt: Type.Optional(Time({ description: 'When the removal of the module resources began.' })),
  }),
  columns: [{ name: 'State', type: 'string', path: '.status.state' }],
  ageColumn: false,
});
export type BtpOperator = ObjectOf<typeof BtpOperator>;

/** What the service operator works on. Only what the manager has to know of them. */
export interface ServiceResource extends KubeObject {
  spec?: { secretName?: string; [field: string]: unknown };
}

const serviceGroup = 'services.cloud.sap.com';
export const ServiceInstance = kindOf<ServiceResource>(serviceGroup, 'v1', 'ServiceInstance', 'serviceinstances');
export const ServiceBinding = kindOf<ServiceResource>(serviceGroup, 'v1', 'ServiceBinding', 'servicebindings');
