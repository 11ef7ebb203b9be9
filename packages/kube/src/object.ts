/** Any Kubernetes object as it is on the wire. Unstructured objects are this type and nothing more. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

export interface ObjectMeta {
  name?: string;
  namespace?: string;
  generateName?: string;
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
  managedFields?: ManagedFieldsEntry[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: unknown;
  subresource?: string;
}

/** Which object of a kind. `namespace` is absent (never `''`) for cluster-scoped objects. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** A view nobody may change: what the cache hands out. `mutable()` gives a copy to work on. */
export type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The key of an object, from its metadata. */
export function keyOf(object: {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}): ObjectKey {
  const { name = '', namespace } = object.metadata;
  return namespace ? { namespace, name } : { name };
}

/** `namespace/name`, or `name` for cluster-scoped objects: how keys are printed and compared. */
export function keyText(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name;
}

/** The opposite of {@link keyText}. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
