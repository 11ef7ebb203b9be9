import { mergeInventories, planSet, type InventoryEntry, type PlannedMember } from '@slipway/manifests';

import { toObjectRef } from '../live-refs.ts';
import { carryOverOf } from './carry-over.ts';
import { emptyRefusal, keepReason, maxShare } from './prune-rules.ts';
import { withOwners, type Revisions } from './revisions.ts';
import type { Manifest, OperandReading } from './run.ts';

/** What applying the manifest would do, by the rules the operator follows when it applies and prunes. Writes nothing. */
export async function planOf(run: OperandReading, manifest: Manifest, revisions: Revisions): Promise<PlannedMember[]> {
  const { desired, ready, created, byName } = revisions;
  const { spec } = run.operand;
  const active = byName.get(ready);
  const sets = [active, byName.get(created)].flatMap((set) => (set?.ours ? [set] : []));
  const inventory = mergeInventories(
    carryOverOf(run).map((ref): InventoryEntry => toObjectRef(ref)),
    sets.flatMap((set) => set.live.map((ref): InventoryEntry => toObjectRef(ref))),
  );
  const ownSets = new Set(sets.map((set) => set.object.metadata.uid));
  const stays =
    spec.prunePolicy === 'Orphan'
      ? 'spec.prunePolicy is Orphan'
      : emptyRefusal(run, revisions, ready === desired ? undefined : active);
  return await planSet({
    client: run.client,
    // With the references there are now: new ones would show up as changes of every member.
    objects: withOwners(manifest.merged, sets),
    fieldManager: run.fieldManager,
    membership: run.membership,
    adoption: spec.adoptionPolicy ?? 'AdoptIfUnowned',
    inventory,
    keep: (live) => stays ?? keepReason(run, live, ownSets),
    maxShare: maxShare(run),
    signal: run.context.signal,
  });
}
