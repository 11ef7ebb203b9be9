import type { DeepReadonly, KubeObject } from '@slipway/kube';

import { names } from '../names.ts';
import { carryOverOf } from './carry-over.ts';
import type { Revision, Revisions } from './revisions.ts';
import type { OperandReading } from './run.ts';

/** A manifest that has become empty is more often a failed render than a wish: everything goes only when somebody says so. */
export function emptyRefusal(run: OperandReading, revisions: Revisions, old: Revision | undefined): string | undefined {
  const { spec } = run.operand;
  if (revisions.refs.length > 0 || spec.allowEmpty === true || spec.prunePolicy === 'Orphan' || isApproved(run))
    return undefined;
  const doomed = (old?.ours && !old.terminating ? old.live.length : 0) + carryOverOf(run).length;
  return doomed > 0
    ? `the manifest has become empty and would prune all ${doomed} objects; put them back, or set spec.allowEmpty: true`
    : undefined;
}

/** How much of a set may be pruned at once, 0 to 1. */
export function maxShare(run: OperandReading): number {
  return isApproved(run) ? 1 : (run.operand.spec.maxPrunePercent ?? 100) / 100;
}

function isApproved(run: OperandReading): boolean {
  const { annotations, generation } = run.operand.metadata;
  return annotations?.[names.approvePruneAnnotation] === String(generation);
}

/**
 * Why an object that left the set stays. One that lost its owners, by hand or with a set that is gone, is known by its field
 * manager; one that anybody else owns stays.
 */
export function keepReason(
  run: Pick<OperandReading, 'fieldManager'>,
  live: DeepReadonly<KubeObject>,
  ownSets: ReadonlySet<string | undefined>,
): string | undefined {
  const { ownerReferences: owners = [], managedFields = [] } = live.metadata;
  if (owners.length === 0)
    return managedFields.some((entry) => entry.manager === run.fieldManager)
      ? undefined
      : 'was not made by this Operand';
  return owners.every(({ uid }) => ownSets.has(uid)) ? undefined : 'has another owner';
}
