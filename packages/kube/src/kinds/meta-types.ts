import type { KubeObject, ObjectMeta } from '../object.ts';

/**
 * A part of a built-in object that operators rarely write, and whose fields are not named here. All other parts name every
 * field of the Kubernetes release this was written for, so that a misspelt one does not compile; `unchecked` is the way to
 * write a field of a newer release.
 */
export interface Open {
  [field: string]: unknown;
}

/** An object of a built-in kind. */
export type Typed<ApiVersion extends string, Name extends string> = {
  apiVersion: ApiVersion;
  kind: Name;
  metadata: ObjectMeta;
};

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** CamelCase word for machines. */
  reason: string;
  /** A sentence for people. */
  message: string;
  /** When `status` last changed. */
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** Conditions of built-in objects: fewer promises than {@link Condition} makes. */
export interface LooseCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
  /** Of Deployments and CertificateSigningRequests. */
  lastUpdateTime?: string;
  /** Of Jobs, Pods and PersistentVolumeClaims. */
  lastProbeTime?: string | null;
  /** Of Nodes. */
  lastHeartbeatTime?: string;
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values?: string[];
}

/** A number, or text such as `25%` or the name of a port. */
export type IntOrString = number | string;

/** An amount such as `500m` or `1Gi`; see `parseQuantity`. */
export type Quantity = string | number;

export interface LocalObjectReference {
  name?: string;
}

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

/** Any list as the server sends it. */
export interface KubeList<T extends KubeObject = KubeObject> {
  apiVersion: string;
  kind: string;
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: T[];
}
