import { condition, isConditionTrue, type ObjectKey, type OwnerReference } from '@slipway/kube';
import { requeueAfter, type ReconcileContext, type Requeue } from '@slipway/runtime';

import { ActiveOperand, ClusterActiveOperand } from '../api.ts';
import { names } from '../names.ts';
import type { OwnedMembers } from './owned-members.ts';
import { ensureOwned } from './ownership.ts';
import { retryAfterMs } from './retry.ts';

/**
 * Keeps one ActiveOperand true. One that mirrors a ClusterActiveOperand watches over references to that; one made by hand
 * owns its members itself.
 */
export async function reconcileActiveOperand(
  context: ReconcileContext,
  key: ObjectKey,
  known: OwnedMembers,
): Promise<Requeue | undefined> {
  const set = await context.cache.get(ActiveOperand, key);
  if (!set || set.metadata.deletionTimestamp !== undefined) return undefined;
  const mirrorOf = set.metadata.labels?.[names.mirrorOfLabel];
  if (mirrorOf !== undefined) {
    // Asked of the server: deleting a mirror because the cache has not seen its set yet would be a needless stir.
    const source = await context.client.get(ClusterActiveOperand, { name: key.name });
    if (source?.metadata.uid !== mirrorOf) {
      // Its set was deleted without its objects; the mirror has nothing to mirror.
      await context.client.delete(ActiveOperand, key, { preconditions: { uid: set.metadata.uid! } });
      return undefined;
    }
    if (source.metadata.deletionTimestamp !== undefined) return undefined;
  }
  const owner: OwnerReference = {
    ...(mirrorOf === undefined
      ? { apiVersion: ActiveOperand.apiVersion, kind: ActiveOperand.kind, name: key.name, uid: set.metadata.uid! }
      : {
          apiVersion: ClusterActiveOperand.apiVersion,
          kind: ClusterActiveOperand.kind,
          name: key.name,
          uid: mirrorOf,
        }),
    controller: false,
    blockOwnerDeletion: true,
  };
  const live = set.spec.live ?? [];
  const problems = await ensureOwned(
    context.client,
    live,
    owner,
    key.name,
    known,
    context.signal,
    mirrorOf !== undefined && !isConditionTrue(set, 'Ready'),
  );
  const failure = `Failed to inject ownerrefs: ${problems.slice(0, 5).join('; ')}`;
  await context.client.setStatus(set, {
    observedGeneration: set.metadata.generation ?? 0,
    conditions:
      problems.length === 0
        ? [
            condition('OwnerRefInjected', true, 'Injected', `${live.length} members`),
            condition('Ready', true, 'Owned', `all ${live.length} members exist and are owned`),
          ]
        : [condition('OwnerRefInjected', false, 'Error', failure), condition('Ready', false, 'Error', failure)],
  });
  return problems.length === 0 ? undefined : requeueAfter(retryAfterMs(set, context.clock.now()));
}
