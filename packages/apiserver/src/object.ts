/** Any value JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object under construction. */
export type JsonObject = { [key: string]: Json };

/** A stored or submitted Kubernetes object. Stored ones are never changed in place: copy, change, store. */
export interface ApiObject {
  apiVersion?: string;
  kind?: string;
  metadata: Metadata;
  [field: string]: unknown;
}

export interface Metadata {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFields[];
  [field: string]: unknown;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** One entry of `metadata.managedFields`. */
export interface ManagedFields {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: 'FieldsV1';
  fieldsV1?: JsonObject;
  subresource?: string;
}
