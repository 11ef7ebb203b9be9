import {
  isNotFound,
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

/**
 * Sees to it that every member exists and carries `owner`. Members made by an Operand have it from their first moment; for
 * sets made by hand it is added here, with a field manager of the set's own so that nobody else's references are touched.
 * Namespaces, CRDs and whatever else is kept on purpose are never owned.
 *
 * @param expected somebody is about to make the members, with their owner, and the watch will tell: while many are missing
 *   the server is not asked
 */
export async function ensureOwned(
  client: Client,
  live: readonly DeepReadonly<LiveRef>[],
  owner: OwnerReference,
  fieldManager: string,
  known: OwnedMembers,
  signal: AbortSignal,
  expected = false,
): Promise<OwnershipProblems> {
  const problems: string[] = [];
  const sought: Sought[] = [];
  const doubtful = live.filter((ref) => !known.isOwned(toObjectRef(ref), owner.uid));
  if (expected && doubtful.filter(isOwnable).length > worthAsking)
    return [`not all of the ${live.length} members exist yet`];
  for (const ref of doubtful) {
    try {
      sought.push({ ref: toObjectRef(ref), kind: await kindOf(client, ref, signal) });
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
  await inParallel(sought, 8, async ({ ref, kind }) => {
    const object = found.get(refKey(ref));
    try {
      if (unreadable.has(refKey(ref))) return;
      if (!object) problems.push(`${refText(ref)} does not exist`);
      else if (mayPrune({ ...object, apiVersion: kind.apiVersion, kind: kind.kind }) && !isOwnedBy(object, owner))
        await addOwner(client, kind, object, owner, fieldManager, signal);
    } catch (error) {
      signal.throwIfAborted();
      problems.push(problemText(ref, error));
    }
  });
  return problems.sort();
}

/** Up to so many members the watch does not know are asked for. */
const worthAsking = 20;

function isOwnable(ref: DeepReadonly<LiveRef>): boolean {
  return mayPrune({ apiVersion: ref.group ? `${ref.group}/v1` : 'v1', kind: ref.kind, metadata: {} });
}

function problemText(ref: ObjectRef | DeepReadonly<LiveRef>, error: unknown): string {
  return `${refText(ref)}: ${error instanceof Error ? error.message : String(error)}`;
}

function isOwnedBy(object: DeepReadonly<KubeObject>, owner: OwnerReference): boolean {
  return object.metadata.ownerReferences?.some((reference) => reference.uid === owner.uid) ?? false;
}

async function addOwner(
  client: Client,
  kind: Kind,
  object: DeepReadonly<KubeObject>,
  owner: OwnerReference,
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
        metadata: { name, ...(namespace ? { namespace } : {}), uid, ownerReferences: [owner] },
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
