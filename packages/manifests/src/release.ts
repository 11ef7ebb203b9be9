import { isConflict, isNotFound, type Client, type DeepReadonly, type Kind, type KubeObject } from '@slipway/kube';

import { annotations } from './annotations.ts';
import { initialManagerOf } from './apply-member.ts';
import { refKey, refOf } from './identity.ts';
import { inParallel } from './in-parallel.ts';
import type { Inventory } from './inventory.ts';
import { keyOfRef, readMetadata, type Sought } from './live-state.ts';
import { isMember, isMembershipLabel, memberLabel, type Membership } from './membership.ts';

export interface ReleaseOptions {
  readonly client: Client;
  /** Who owned the fields, as given to `applySet`. */
  readonly fieldManager: string;
  readonly membership: Membership;
  /** Requests at a time. Default 8. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
}

/**
 * Gives up objects that stay while their set goes: its labels come off and nobody owns its fields any more, so that somebody
 * else can take the objects over. What is in them is not touched. Objects that are gone, or were never marked, are passed over.
 */
export async function releaseMembers(options: ReleaseOptions & { readonly entries: Inventory }): Promise<void> {
  const { client, entries, membership, signal } = options;
  const concurrency = options.concurrency ?? 8;
  const byKind = Map.groupBy(entries, (entry) => `${entry.group}/${entry.kind}`);
  await inParallel([...byKind.values()], concurrency, async (some) => {
    try {
      const kind = await client.resolveGroupKind(some[0]!.group, some[0]!.kind, { signal });
      const sought = some.map((entry): Sought => ({ ref: entry, kind }));
      const found = await readMetadata(client, sought, membership, { concurrency, signal });
      await inParallel(some, concurrency, async (entry) => {
        const live = found.get(refKey(entry));
        if (live && (entry.uid === undefined || entry.uid === live.metadata.uid))
          await releaseMember(kind, live, options);
      });
    } catch (error) {
      // A kind that is not served any more has no objects left.
      if (!isNotFound(error)) throw error;
    }
  });
}

/** How often a write is tried against others who write the same object. */
const attempts = 5;

/** Gives up one object, see {@link releaseMembers}. */
export async function releaseMember(
  kind: Kind,
  seen: DeepReadonly<KubeObject>,
  options: ReleaseOptions,
): Promise<void> {
  const { client, signal } = options;
  const key = keyOfRef(refOf({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: seen.metadata }));
  let live: DeepReadonly<KubeObject> | undefined = seen;
  for (let attempt = 1; live && live.metadata.uid === seen.metadata.uid; attempt += 1) {
    const metadata = releasedMetadata(live, options);
    if (!metadata) return;
    try {
      await client.patch(kind, key, { type: 'merge', body: { metadata } }, { signal });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === attempts) throw error;
      live = await client.get(kind, key, { signal });
    }
  }
}

/** The metadata to write, refused when the object has changed since; `undefined` when there is nothing to give up. */
function releasedMetadata(
  { metadata }: DeepReadonly<KubeObject>,
  { fieldManager, membership }: ReleaseOptions,
): Record<string, unknown> | undefined {
  const managers = new Set([fieldManager, initialManagerOf(fieldManager)]);
  const owned = metadata.managedFields ?? [];
  const others = owned.filter((entry) => !managers.has(entry.manager ?? ''));
  if (!isMember({ metadata }, membership) && others.length === owned.length) return undefined;
  const marks = Object.keys(metadata.labels ?? {}).filter(isMembershipLabel);
  const lastSet = marks.every((key) => key === memberLabel || key === membership.label);
  return {
    resourceVersion: metadata.resourceVersion,
    labels: { [membership.label]: null, ...(lastSet ? { [memberLabel]: null } : {}) },
    ...(metadata.annotations?.[annotations.appliedDigest] === undefined
      ? {}
      : { annotations: { [annotations.appliedDigest]: null } }),
    // A list of one empty entry is how the server is told that nobody owns anything; an empty list changes nothing.
    managedFields: others.length > 0 ? others : [{}],
  };
}
