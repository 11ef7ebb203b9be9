import { isBadRequest, isInvalid, type DeepReadonly, type KubeObject } from '@slipway/kube';

import type { MemberContext } from './apply-member.ts';
import { refKey, refOf } from './identity.ts';
import { inParallel } from './in-parallel.ts';
import { readLiveMembers, type Sought } from './live-state.ts';
import type { MemberResult } from './member-result.ts';
import { isAppliedButForOwners } from './owned-fields.ts';
import { isRefusedAsChange, refusedMember } from './refusal.ts';
import type { ServedKinds } from './served-kinds.ts';

/** Members as they are on the server, by `refKey`; `undefined` for one that is known not to exist. */
export type LiveMembers = Map<string, DeepReadonly<KubeObject> | undefined>;

export interface Preflight {
  readonly refused: MemberResult[];
  /** What was read on the way: it need not be read again. */
  readonly read: LiveMembers;
}

/**
 * Dry-runs what can be judged now: kinds the server knows, in namespaces that exist or are cluster-scoped. Members that are
 * as they should be need no judgement, so one change in a large set costs one dry run.
 */
export async function preflight(
  objects: readonly KubeObject[],
  kinds: ServedKinds,
  context: MemberContext,
  concurrency: number,
): Promise<Preflight> {
  const { client, fieldManager, memo, membership, signal } = context;
  const newNamespaces = new Set(
    objects.filter((object) => object.kind === 'Namespace').map((object) => object.metadata.name),
  );
  const inTime = objects.filter(
    ({ metadata }) => metadata.namespace === undefined || !newNamespaces.has(metadata.namespace),
  );
  const judged = inTime.filter((object) => kinds.usable(object));
  const refused = inTime
    .filter((object) => kinds.isKnown(object) && !kinds.usable(object))
    .map((object) => kinds.refusal(object));
  const unreadable = new Set<string>();
  const live = await readLiveMembers(
    client,
    judged.map((object): Sought => ({ ref: refOf(object), kind: kinds.usable(object)! })),
    membership,
    // What may not be read is reported when it is its turn, with the rest of its wave applied.
    { concurrency, signal, onUnreadable: (ref) => unreadable.add(refKey(ref)) },
  );
  const read: LiveMembers = new Map();
  await inParallel(judged, concurrency, async (object) => {
    const ref = refOf(object);
    const present = live.get(refKey(ref));
    if (!unreadable.has(refKey(ref))) read.set(refKey(ref), present);
    if (present && (memo.knows(present, object, fieldManager) || isAppliedButForOwners(object, present, fieldManager)))
      return;
    try {
      await client.apply(object, { fieldManager, force: true, dryRun: true, signal });
    } catch (error) {
      signal?.throwIfAborted();
      // Immutable fields are judged when the member is applied: it may be allowed to be made anew.
      if (isFinal(error) && !(present && (await isRefusedAsChange(error, object, client, context))))
        refused.push(refusedMember(ref, error));
    }
  });
  return { refused, read };
}

/** Refusals that a retry or a later wave will not mend. */
function isFinal(error: unknown): boolean {
  return isBadRequest(error) || isInvalid(error);
}
