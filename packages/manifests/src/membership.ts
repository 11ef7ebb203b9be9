import type { DeepReadonly, KubeObject, ObjectMeta } from '@slipway/kube';
import { createHash } from 'node:crypto';

const prefix = 'set.manifests.slipway.dev/';

/** On every member of every set, whichever: what drift watches select by, so that they cache members and nothing else. */
export const memberLabel = 'manifests.slipway.dev/member';

/**
 * How members of a set are marked: a label of the set's own, so that one list per kind finds all members, and an object may
 * belong to two sets without a fight about one label's value.
 */
export interface Membership {
  /** Label key, such as `set.manifests.slipway.dev/operand-1f0c…`. */
  readonly label: string;
  /** Label value; says nothing, only the key counts. */
  readonly value: string;
}

/**
 * The membership mark of a set.
 *
 * @param owner what the set belongs to, stable over its life: `Operand.operand.run.cloud.google.com/shop`
 */
export function membershipOf(owner: string): Membership {
  const id = createHash('sha256').update(owner).digest('hex').slice(0, 16);
  return { label: `${prefix}${id}`, value: 'member' };
}

type Labelled = { readonly metadata: DeepReadonly<Pick<ObjectMeta, 'labels' | 'ownerReferences' | 'annotations'>> };

export function isMember(object: Labelled, membership: Membership): boolean {
  return object.metadata.labels?.[membership.label] !== undefined;
}

/** Who else manages an object as a whole, in words; `undefined` when nobody does. */
export function otherOwner(object: Labelled): string | undefined {
  const controller = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller) return `${controller.kind} ${controller.name}`;
  const release = object.metadata.annotations?.['meta.helm.sh/release-name'];
  return release ? `Helm release ${release}` : undefined;
}

/** Whether the object is a member of another set too. Two sets may share an object as long as they agree about its fields. */
export function isShared(object: Labelled, membership: Membership): boolean {
  return Object.keys(object.metadata.labels ?? {}).some((key) => isSetLabel(key) && key !== membership.label);
}

/** Whether a label is the mark of one particular set. */
export function isSetLabel(key: string): boolean {
  return key.startsWith(prefix);
}

/** Whether a label is one of the marks of sets. */
export function isMembershipLabel(key: string): boolean {
  return key === memberLabel || isSetLabel(key);
}

/** A copy of `object` with the set's labels. */
export function withMembership<T extends KubeObject>(object: T, membership: Membership): T {
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, [memberLabel]: 'true', [membership.label]: membership.value },
    },
  };
}
