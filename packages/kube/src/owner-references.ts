import type { DeepReadonly, KubeObject, OwnerReference } from './object.ts';
import { parseApiVersion } from './kind.ts';
import { InputError } from './input-error.ts';

type Owned = DeepReadonly<Pick<KubeObject, 'metadata'>> & { readonly kind?: string };

/** The reference that makes `owner` the controller of what carries it. */
export function controllerReference(
  owner: DeepReadonly<KubeObject>,
  options: { blockOwnerDeletion?: boolean } = {},
): OwnerReference {
  return { ...ownerReference(owner), controller: true, blockOwnerDeletion: options.blockOwnerDeletion ?? true };
}

/** A plain owner: the object goes when all its owners are gone. */
export function ownerReference(owner: DeepReadonly<KubeObject>): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  if (!metadata.uid || !metadata.name)
    throw new TypeError(`${kind} ${metadata.name ?? ''} cannot own anything before it is stored: it has no uid`);
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

/**
 * A copy of `object` whose controller is `owner`. Fails when another object controls it already, and when the owner is in
 * another namespace: the garbage collector would delete the object at once.
 */
export function withController<T extends KubeObject>(object: T, owner: DeepReadonly<KubeObject>): T {
  return withReference(object, owner, controllerReference(owner));
}

/** A copy of `object` with `owner` among its owners. */
export function withOwner<T extends KubeObject>(object: T, owner: DeepReadonly<KubeObject>): T {
  return withReference(object, owner, ownerReference(owner));
}

function withReference<T extends KubeObject>(object: T, owner: DeepReadonly<KubeObject>, reference: OwnerReference): T {
  const text = `${object.kind} ${object.metadata.name ?? object.metadata.generateName ?? ''}`;
  const ownerNamespace = owner.metadata.namespace;
  if (ownerNamespace && ownerNamespace !== object.metadata.namespace)
    throw new TypeError(
      `${owner.kind} ${ownerNamespace}/${owner.metadata.name} cannot own ${text}: ${
        object.metadata.namespace ? `it is in namespace ${object.metadata.namespace}` : 'it is in no namespace'
      }`,
    );
  const existing = object.metadata.ownerReferences ?? [];
  const controller = existing.find((candidate) => candidate.controller && !sameOwner(candidate, reference));
  if (reference.controller && controller)
    throw new InputError('Owner', `${text} is controlled by ${controller.kind} ${controller.name} already`);
  const others = existing.filter((candidate) => !sameOwner(candidate, reference));
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...others, reference] } };
}

/** A copy of `object` without `owner` among its owners. */
export function withoutOwner<T extends KubeObject>(object: T, owner: DeepReadonly<KubeObject>): T {
  const existing = object.metadata.ownerReferences ?? [];
  const rest = existing.filter((reference) => reference.uid !== owner.metadata.uid);
  if (rest.length === existing.length) return object;
  const { ownerReferences: _removed, ...metadata } = object.metadata;
  return { ...object, metadata: rest.length === 0 ? metadata : { ...metadata, ownerReferences: rest } };
}

/** The controller among an object's owners. */
export function controllerOf(object: Owned): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true) as
    | OwnerReference
    | undefined;
}

/** Whether `owner` (this very object, by uid) controls `object`. */
export function isControlledBy(object: Owned, owner: DeepReadonly<Pick<KubeObject, 'metadata'>>): boolean {
  return owner.metadata.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;
}

/** Whether `owner` (this very object, by uid) is among the owners of `object`. */
export function isOwnedBy(object: Owned, owner: DeepReadonly<Pick<KubeObject, 'metadata'>>): boolean {
  const { uid } = owner.metadata;
  return uid !== undefined && (object.metadata.ownerReferences?.some((reference) => reference.uid === uid) ?? false);
}

/** The same owner by name, in whatever version and incarnation: a new one takes the place of the old. */
function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return (
    a.name === b.name &&
    a.kind === b.kind &&
    parseApiVersion(a.apiVersion).group === parseApiVersion(b.apiVersion).group
  );
}
