import {
  isNotFound,
  objectPath,
  type Client,
  type DeepReadonly,
  type Kind,
  type KubeObject,
  type OwnerReference,
} from '@slipway/kube';
import {
  inParallel,
  mayPrune,
  memberLabel,
  readLiveMembers,
  refKey,
  refText,
  type ObjectRef,
  type Sought,
} from '@slipway/manifests';

import { toObjectRef, type LiveRef } from '../live-refs.ts';
import type { OwnedMembers } from './owned-members.ts';

/** What is still missing before every member is owned; empty when all are. */
export type OwnershipProblems = readonly string[];

/** The members of one set, and who is to own them. */
export interface SetMembers {
  readonly client: Client;
  readonly live: readonly DeepReadonly<LiveRef>[];
  readonly owner: OwnerReference;
  readonly known: OwnedMembers;
  readonly signal: AbortSignal;
}

/**
 * Looks whether every member of an Operand's set exists and carries the set's reference. Writes nothing: the Operand puts the
 * references into what it applies, and is the only one that knows whose adoption was refused and which set is on its way out.
 *
 * @param expected the Operand is about to make the members, and the watch will tell: while many are missing the server is not asked
 */
export async function unownedMembers(members: SetMembers, expected: boolean): Promise<OwnershipProblems> {
  const doubtful = doubtfulMembers(members);
  if (expected && doubtful.filter(isOwnable).length > worthAsking)
    return [`not all of the ${members.live.length} members exist yet`];
  const { problems, unowned } = await readUnowned(members, doubtful);
  const waiting = unowned
    .filter(({ ref }) => isOwnable(ref))
    .map(({ ref }) => `${refText(ref)} exists, but its Operand has not made it a member`);
  return [...problems, ...waiting].sort();
}

/**
 * Gives every member of a set made by hand its owner, with a field manager of the set's own so that nobody else's references
 * are touched. Namespaces, CRDs and whatever else is kept on purpose are never owned.
 *
 * @param isGoing asks the server whether the set is on its way out: the garbage collector deletes what refers to a set that is gone
 */
export async function ownMembers(members: SetMembers, isGoing: () => Promise<boolean>): Promise<OwnershipProblems> {
  const { problems, unowned } = await readUnowned(members, doubtfulMembers(members));
  if (unowned.length === 0) return [...problems].sort();
  if (await isGoing()) return ['the set is being deleted'];
  const { client, owner, signal } = members;
  const failed = await inParallel(unowned, 8, async ({ ref, kind, object }) => {
    try {
      await writeOwners(client, kind, object, [owner], owner.name, signal);
      return [];
    } catch (error) {
      signal.throwIfAborted();
      return [problemText(ref, error)];
    }
  });
  if (await isGoing()) {
    // It was deleted while the references were on their way. An owner too few keeps an object, one too many may cost it.
    await inParallel(unowned, 8, ({ kind, object }) => writeOwners(client, kind, object, [], owner.name, signal));
    return ['the set is being deleted'];
  }
  return [...problems, ...failed.flat()].sort();
}

interface Unowned extends Sought {
  readonly object: DeepReadonly<KubeObject>;
}

function doubtfulMembers({ live, known, owner }: SetMembers): DeepReadonly<LiveRef>[] {
  return live.filter((ref) => !known.isOwned(toObjectRef(ref), owner.uid));
}

async function readUnowned(
  { client, owner, signal }: SetMembers,
  doubtful: readonly DeepReadonly<LiveRef>[],
): Promise<{ problems: string[]; unowned: Unowned[] }> {
  const problems: string[] = [];
  const sought: Sought[] = [];
  for (const ref of doubtful) {
    try {
      const member = { ref: toObjectRef(ref), kind: await kindOf(client, ref, signal) };
      // Throws where there cannot be such an object, before anybody is asked for it.
      objectPath(member.kind, member.ref);
      sought.push(member);
    } catch (error) {
      signal.throwIfAborted();
      problems.push(problemText(ref, error));
    }
  }
  const unreadable = new Set<string>();
  const found = await readLiveMembers(
    client,
    sought,
    { label: memberLabel, value: 'member' },
    {
      concurrency: 8,
      signal,
      onUnreadable(ref, error) {
        unreadable.add(refKey(ref));
        problems.push(problemText(ref, error));
      },
    },
  );
  const unowned: Unowned[] = [];
  for (const { ref, kind } of sought) {
    const object = found.get(refKey(ref));
    if (unreadable.has(refKey(ref))) continue;
    if (!object) problems.push(`${refText(ref)} does not exist`);
    else if (mayPrune({ ...object, apiVersion: kind.apiVersion, kind: kind.kind }) && !isOwnedBy(object, owner))
      unowned.push({ ref, kind, object });
  }
  return { problems, unowned };
}

/** Up to so many members the watch does not know are asked for. */
const worthAsking = 20;

/** By its kind. Annotations of the live object are no wish of the Operand. */
function isOwnable(ref: ObjectRef | DeepReadonly<LiveRef>): boolean {
  return mayPrune({ apiVersion: ref.group ? `${ref.group}/v1` : 'v1', kind: ref.kind, metadata: {} });
}

function problemText(ref: ObjectRef | DeepReadonly<LiveRef>, error: unknown): string {
  return `${refText(ref)}: ${error instanceof Error ? error.message : String(error)}`;
}

function isOwnedBy(object: DeepReadonly<KubeObject>, owner: OwnerReference): boolean {
  return object.metadata.ownerReferences?.some((reference) => reference.uid === owner.uid) ?? false;
}

/** Makes `owners` the references this field manager has on an object; others' stay. */
async function writeOwners(
  client: Client,
  kind: Kind,
  object: DeepReadonly<KubeObject>,
  ownerReferences: readonly OwnerReference[],
  fieldManager: string,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  try {
    await client.apply(
      // The uid makes the apply fail instead of creating an empty object when the member is gone by now.
      {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: { name, ...(namespace ? { namespace } : {}), uid, ownerReferences: [...ownerReferences] },
      },
      { fieldManager, force: true, signal },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The older form of a reference names the resource itself; otherwise the server's preferred version of group and kind counts. */
async function kindOf(client: Client, ref: DeepReadonly<LiveRef>, signal: AbortSignal): Promise<Kind> {
  if (ref.version && ref.resource) {
    const apiVersion = ref.group ? `${ref.group}/${ref.version}` : ref.version;
    return {
      group: ref.group,
      version: ref.version,
      kind: ref.kind,
      plural: ref.resource,
      scope: ref.namespace ? 'Namespaced' : 'Cluster',
      apiVersion,
    };
  }
  return await client.resolveGroupKind(ref.group, ref.kind, { signal });
}
