import { isConflict, isNotFound, type Client, type DeepReadonly, type Kind, type KubeObject } from '@slipway/kube';

import { mayPrune } from './annotations.ts';
import { refKey, refOf, type ObjectRef } from './identity.ts';
import { inParallel } from './in-parallel.ts';
import type { Inventory, InventoryEntry } from './inventory.ts';
import { keyOfRef, readMetadata, type Sought } from './live-state.ts';
import type { Membership } from './membership.ts';
import { refusalText } from './refusal.ts';
import { releaseMember } from './release.ts';
import { orderInWaves } from './waves.ts';

export interface PruneOptions {
  readonly client: Client;
  /** What has left the set. */
  readonly entries: Inventory;
  /** How many members the set had before; for `maxShare`. Default: as many as `entries`. */
  readonly setSize?: number;
  /** Refuse to prune more than this share of the set (0 to 1). Default 1: no limit. */
  readonly maxShare?: number;
  /** How members are marked. Given, many of one kind are found with one list instead of a read each. */
  readonly membership?: Membership;
  /** Who owned the fields. Given with `membership`, objects that stay are given up, so that somebody else can take them. */
  readonly fieldManager?: string;
  /** Why an object must stay, or `undefined` when it may go. Asked besides the object's own annotations. */
  readonly keep?: (live: DeepReadonly<KubeObject>) => string | undefined;
  /** What happens to the objects' own dependents. Default `Background`. */
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  /** Requests at a time. Default 8. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
}

/**
 * `gone`: was not there any more; `replaced`: an object of that name exists but is not the one that was applied; `kept`: stays
 * on purpose; `terminating`: deleted, but something still holds it; `pending`: an earlier wave has to be gone first.
 */
export interface PrunedMember {
  readonly ref: ObjectRef;
  readonly action: 'deleted' | 'terminating' | 'gone' | 'kept' | 'replaced' | 'failed' | 'pending';
  /** This very pass asked the server to delete it. */
  readonly requested?: true;
  readonly message?: string;
  /** What the server answered, for decisions that depend on it. */
  readonly error?: unknown;
}

export interface PruneResult {
  readonly state: 'pruned' | 'waiting' | 'failed' | 'refused';
  readonly members: readonly PrunedMember[];
  /** Why it was refused. */
  readonly message?: string;
}

/**
 * One pass of taking objects off the cluster: in reverse order of their waves, each deleted only if it is the very object
 * that was applied (uid precondition), nothing that is to be kept. Never waits; run it again while it says `waiting`.
 */
export async function pruneMembers(options: PruneOptions): Promise<PruneResult> {
  const { entries, signal } = options;
  const refusal = shareRefusal(entries.length, options);
  if (refusal) return { state: 'refused', members: [], message: refusal };
  const concurrency = options.concurrency ?? 8;

  const members: PrunedMember[] = [];
  const doomed: Doomed[] = [];
  const byKind = Map.groupBy(entries, (entry) => `${entry.group}/${entry.kind}`);
  await inParallel([...byKind.values()], concurrency, async (some) => {
    for (const found of await inspect(some, options)) {
      if ('live' in found) doomed.push(found);
      else members.push(found);
    }
  });
  const byKey = new Map(doomed.map((item) => [refKey(refOf(item.live)), item]));
  const waves = orderInWaves(
    doomed.map((item) => item.live),
    { partial: true },
  ).reverse();
  for (const [index, wave] of waves.entries()) {
    const outcome = await inParallel(wave.objects, concurrency, async (object) =>
      remove(byKey.get(refKey(refOf(object)))!, options),
    );
    members.push(...outcome);
    const failed = outcome.some((member) => member.action === 'failed');
    const waits = outcome.some((member) => member.action === 'terminating');
    if (failed || waits) {
      const rest = waves.slice(index + 1).flatMap((later) => later.objects);
      members.push(...rest.map((object): PrunedMember => ({ ref: refOf(object), action: 'pending' })));
      return { state: failed ? 'failed' : 'waiting', members };
    }
    signal?.throwIfAborted();
  }
  return { state: members.some((member) => member.action === 'failed') ? 'failed' : 'pruned', members };
}

interface Doomed {
  readonly live: KubeObject;
  readonly kind: Kind;
}

/** Looks at entries of one kind. */
async function inspect(entries: Inventory, options: PruneOptions): Promise<(Doomed | PrunedMember)[]> {
  try {
    const { group, kind: name } = entries[0]!;
    const kind = await options.client.resolveGroupKind(group, name, { signal: options.signal });
    const unreadable = new Map<string, unknown>();
    const live = await readMetadata(
      options.client,
      entries.map((entry): Sought => ({ ref: toRef(entry), kind })),
      // A definition says in its spec which objects depend on it: metadata will not do.
      kind.kind === 'CustomResourceDefinition' ? undefined : options.membership,
      {
        concurrency: options.concurrency ?? 8,
        signal: options.signal,
        onUnreadable: (ref, error) => unreadable.set(refKey(ref), error),
      },
    );
    return await inParallel(entries, options.concurrency ?? 8, async (entry): Promise<Doomed | PrunedMember> => {
      const refusal = unreadable.get(refKey(entry));
      if (refusal !== undefined)
        return { ref: toRef(entry), action: 'failed', message: refusalText(refusal), error: refusal };
      const found = live.get(refKey(entry));
      const verdict = judge(entry, kind, found, options);
      if (found && 'action' in verdict && verdict.action === 'kept') await giveUp(kind, found, options);
      return verdict;
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    // A kind that is not served any more has no objects left.
    const outcome = isNotFound(error)
      ? { action: 'gone' as const }
      : { action: 'failed' as const, message: refusalText(error), error };
    return entries.map((entry) => ({ ref: toRef(entry), ...outcome }));
  }
}

async function giveUp(kind: Kind, live: DeepReadonly<KubeObject>, options: PruneOptions): Promise<void> {
  const { client, fieldManager, membership, signal } = options;
  if (fieldManager !== undefined && membership)
    await releaseMember(kind, live, { client, fieldManager, membership, signal });
}

function judge(
  entry: InventoryEntry,
  kind: Kind,
  live: DeepReadonly<KubeObject> | undefined,
  options: PruneOptions,
): Doomed | PrunedMember {
  const ref = toRef(entry);
  if (!live) return { ref, action: 'gone' };
  if (entry.uid !== undefined && live.metadata.uid !== entry.uid)
    return { ref, action: 'replaced', message: 'is not the object that was applied; left alone' };
  if (!mayPrune(live)) return { ref, action: 'kept', message: 'is kept by its kind or annotation' };
  const why = options.keep?.(live);
  if (why !== undefined) return { ref, action: 'kept', message: why };
  return { live: { ...(live as KubeObject), apiVersion: kind.apiVersion, kind: kind.kind }, kind };
}

function toRef({ group, kind, namespace, name }: InventoryEntry): ObjectRef {
  return { group, kind, namespace, name };
}

async function remove({ live, kind }: Doomed, options: PruneOptions): Promise<PrunedMember> {
  const ref = refOf(live);
  if (live.metadata.deletionTimestamp) {
    const holds = live.metadata.finalizers?.join(', ');
    return { ref, action: 'terminating', message: holds ? `it waits for ${holds}` : 'it is being deleted' };
  }
  try {
    const result = await options.client.delete(kind, keyOfRef(ref), {
      propagationPolicy: options.propagationPolicy ?? 'Background',
      preconditions: { uid: live.metadata.uid! },
      signal: options.signal,
    });
    return result?.state === 'terminating'
      ? { ref, action: 'terminating', requested: true, message: 'it is being deleted' }
      : { ref, action: 'deleted', requested: true };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (isConflict(error)) return await afterConflict({ live, kind }, error, options);
    return { ref, action: 'failed', message: refusalText(error), error };
  }
}

/** A conflict is a replaced object only when it is another one now; anything else is worth another try. */
async function afterConflict({ live, kind }: Doomed, error: unknown, options: PruneOptions): Promise<PrunedMember> {
  const ref = refOf(live);
  const now = await options.client.get(kind, keyOfRef(ref), { signal: options.signal });
  if (!now) return { ref, action: 'gone' };
  return now.metadata.uid === live.metadata.uid
    ? { ref, action: 'failed', message: refusalText(error), error }
    : { ref, action: 'replaced', message: 'was replaced meanwhile; left alone' };
}

/** Why so many of a set may not go at once. */
export function shareRefusal(
  count: number,
  { setSize: size = count, maxShare: limit = 1 }: { setSize?: number | undefined; maxShare?: number | undefined },
): string | undefined {
  if (size === 0 || count / size <= limit) return undefined;
  return `would prune ${count} of ${size} objects, more than the allowed ${Math.round(limit * 100)} %`;
}
