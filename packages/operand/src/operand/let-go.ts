import {
  hasFinalizer,
  isConflict,
  isInvalid,
  isNotFound,
  type DeepReadonly,
  type Kind,
  type ObjectMeta,
} from '@slipway/kube';
import { inParallel, keyOfRef, mayPrune, readMetadata, refKey, type ObjectRef } from '@slipway/manifests';

import { toLiveRef, toObjectRef } from '../live-refs.ts';
import { names } from '../names.ts';
import { operandCondition } from '../reasons.ts';
import { noteCarryOver } from './note-carry-over.ts';
import type { Revision } from './revisions.ts';
import type { OperandRun } from './run.ts';

/**
 * Lets sets that are being deleted go, whoever deleted them. Members that no other owner holds are released first: when the
 * set is gone, the garbage collector takes what refers to it alone. What has to go has been pruned before, object by object.
 */
export async function letGoingSetsGo(run: OperandRun, sets: Iterable<Revision>): Promise<void> {
  const going = [...sets].filter((set) => set.ours && set.terminating);
  const uids = new Set(going.map((set) => set.object.metadata.uid!));
  for (const set of going) {
    // While it is there the garbage collector is taking references off itself; the set's next event tells when it is done.
    if (!hasFinalizer(set.object, names.setFinalizer) || hasFinalizer(set.object, 'orphan')) continue;
    if (await releaseMembers(run, set, uids)) await run.context.client.removeFinalizer(set.object, names.setFinalizer);
  }
}

/** Whether no member refers to sets that go, and to nothing else, any more. */
async function releaseMembers(run: OperandRun, set: Revision, going: ReadonlySet<string>): Promise<boolean> {
  const left = await membersLeft(run, set, going);
  if (left.length === 0) return true;
  // Noted before they are released: afterwards nothing else knows of those that are not wanted any more.
  await noteCarryOver(
    run,
    left.map(({ ref }) => toLiveRef(ref)),
    // It may be the active one, deleted by hand, and this the first that is said about a new generation.
    [operandCondition('LatestActiveOperandReady', 'Unknown', 'Creating', `${set.name} was deleted; its members stay`)],
  );
  const outcome = await inParallel(left, 8, (member) => release(run, member, set));
  return outcome.every(Boolean);
}

interface Member {
  readonly ref: ObjectRef;
  readonly kind: Kind;
  readonly metadata: DeepReadonly<ObjectMeta>;
}

/** The members that nobody owns once the sets that go are gone. */
async function membersLeft(run: OperandRun, set: Revision, going: ReadonlySet<string>): Promise<Member[]> {
  const { signal } = run.context;
  const left: Member[] = [];
  for (const refs of Map.groupBy(set.live, (ref) => `${ref.group}/${ref.kind}`).values()) {
    const kind = await servedKind(run, refs[0]!);
    if (!kind) continue;
    const sought = refs.map((ref) => ({ ref: toObjectRef(ref), kind }));
    const members = await readMetadata(run.client, sought, run.membership, { concurrency: 8, signal });
    for (const { ref } of sought) {
      const metadata = members.get(refKey(ref))?.metadata;
      if (!metadata || metadata.deletionTimestamp !== undefined) continue;
      // What is kept on purpose has no owner to lose.
      if (!mayPrune({ apiVersion: kind.apiVersion, kind: kind.kind, metadata })) continue;
      if ((metadata.ownerReferences ?? []).every(({ uid }) => going.has(uid))) left.push({ ref, kind, metadata });
    }
  }
  return left;
}

async function servedKind(run: OperandRun, ref: { group: string; kind: string }): Promise<Kind | undefined> {
  const { signal } = run.context;
  try {
    return await run.client.resolveGroupKind(ref.group, ref.kind, { signal });
  } catch (error) {
    // A kind that is not served any more has no objects left.
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function release(run: OperandRun, { ref, kind, metadata }: Member, set: Revision): Promise<boolean> {
  const { uid } = set.object.metadata;
  const index = metadata.ownerReferences?.findIndex((reference) => reference.uid === uid) ?? -1;
  if (index < 0) return true;
  const path = `/metadata/ownerReferences/${index}`;
  try {
    await run.client.patch(kind, keyOfRef(ref), {
      type: 'json',
      operations: [
        { op: 'test', path: '/metadata/uid', value: metadata.uid },
        { op: 'test', path: `${path}/uid`, value: uid },
        { op: 'remove', path },
      ],
    });
    return true;
  } catch (error) {
    if (isNotFound(error)) return true;
    // It has changed since it was read.
    if (isConflict(error) || isInvalid(error)) return false;
    throw error;
  }
}
