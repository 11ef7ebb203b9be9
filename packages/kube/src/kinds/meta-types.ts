import type { KubeObject } from '../object.ts';

/**
 * The types of built-in objects name the fields operators use. Fields they do not name are allowed everywhere (`Open`):
 * a new Kubernetes release never stands in the way of writing a manifest.
 */
export interface Open {
  [field: string]: unknown;
}

/** An object of a built-in kind. */
export interface Typed<ApiVersion extends string, Name extends string> extends KubeObject {
  apiVersion: ApiVersion;
  kind: Name;
}

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
export interface LooseCondition extends Open {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
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

export interface ObjectReference extends Open {
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
