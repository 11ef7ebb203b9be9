import { createHash } from 'node:crypto';
import type { DeepReadonly, KubeObject } from '@slipway/kube';

import { annotations, driftPolicyOf } from './annotations.ts';
import { isMembershipLabel } from './membership.ts';

/**
 * Members whose drift is not corrected carry a digest of the manifest they were made from. Without it a change of the manifest
 * could not be told from a change by somebody else, and would be left undone like one.
 */
export function withDriftMark<T extends KubeObject>(object: T): T {
  if (driftPolicyOf(object) === 'Correct') return object;
  const marked = { ...object.metadata.annotations, [annotations.appliedDigest]: digestOf(object) };
  return { ...object, metadata: { ...object.metadata, annotations: marked } };
}

/** Whether `live` was made from this very manifest, so that what differs is drift. */
export function carriesDriftMark(live: DeepReadonly<KubeObject>, config: DeepReadonly<KubeObject>): boolean {
  const mark = config.metadata.annotations?.[annotations.appliedDigest];
  return mark !== undefined && live.metadata.annotations?.[annotations.appliedDigest] === mark;
}

/** Owners and marks of sets come and go with sets; the manifest is the same. */
function digestOf({ metadata, ...rest }: KubeObject): string {
  const { ownerReferences: _owners, labels = {}, ...own } = metadata;
  const ownLabels = Object.entries(labels).filter(([key]) => !isMembershipLabel(key));
  return createHash('sha256')
    .update(JSON.stringify([rest, own, ownLabels]))
    .digest('hex')
    .slice(0, 16);
}
