import type { KubeObject } from '@slipway/kube';

/**
 * Which object a manifest means. The API version is not part of it: `apps/v1` and `apps/v1beta2` of one Deployment are the
 * same object.
 */
export interface ObjectRef {
  readonly group: string;
  readonly kind: string;
  /** `''` for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** The group of an `apiVersion`: `apps` for `apps/v1`, `''` for `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** The version of an `apiVersion`: `v1` for `apps/v1` and for `v1`. */
export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

/** The identity of an object. */
export function refOf(
  object: Pick<KubeObject, 'apiVersion' | 'kind'> & {
    readonly metadata: { readonly name?: string; readonly namespace?: string };
  },
): ObjectRef {
  return {
    group: groupOf(object.apiVersion),
    kind: object.kind,
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name ?? '',
  };
}

/** How an object is named to people: `Deployment.apps shop/web`. */
export function refText(ref: ObjectRef): string {
  const kind = ref.group ? `${ref.kind}.${ref.group}` : ref.kind;
  return `${kind} ${ref.namespace ? `${ref.namespace}/` : ''}${ref.name}`;
}

/** The same in a sentence: nobody asks for the group of a kind that Kubernetes brings. */
export function spokenText(ref: ObjectRef): string {
  const isBuiltIn = !ref.group.includes('.') || ref.group.endsWith('.k8s.io');
  return refText(isBuiltIn ? { ...ref, group: '' } : ref);
}

/** How kubectl names an object and takes it back: `deployment.apps/web`. Its namespace is for `-n` to say. */
export function resourceName(ref: Pick<ObjectRef, 'group' | 'kind' | 'name'>): string {
  const kind = ref.kind.toLowerCase();
  return `${ref.group ? `${kind}.${ref.group}` : kind}/${ref.name}`;
}

/** A text equal for equal refs and different for different ones; for maps and sets. */
export function refKey(ref: ObjectRef): string {
  return `${ref.group}|${ref.kind}|${ref.namespace}|${ref.name}`;
}

/** Byte-wise order by group, kind, namespace, name: the same on every machine and in every locale. */
export function compareRefs(a: ObjectRef, b: ObjectRef): number {
  return (
    compareBytes(a.group, b.group) ||
    compareBytes(a.kind, b.kind) ||
    compareBytes(a.namespace, b.namespace) ||
    compareBytes(a.name, b.name)
  );
}

/** Compares strings by their UTF-8 bytes, as Go does. (UTF-16 order differs for characters beyond the basic plane.) */
export function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
