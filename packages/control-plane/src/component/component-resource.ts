import type { DeepReadonly, ObjectMeta } from '@slipway/kube';

export interface ComponentCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** CamelCase word for programs. */
  reason?: string;
  /** A sentence for people. */
  message?: string;
  lastTransitionTime?: string;
}

/** What all component resources have in common. */
export interface ComponentResource {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: unknown;
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }[];
    observedGenerations?: { resource: number; managedControlPlane: number; internalConfiguration: number };
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

export type ReadonlyComponent = DeepReadonly<ComponentResource>;
