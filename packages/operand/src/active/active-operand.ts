import { firstOfMany, isConditionTrue, type DeepReadonly, type ObjectKey } from '@slipway/kube';
import { requeueAfter, type ReconcileContext, type Requeue } from '@slipway/runtime';

import { ActiveOperand, ClusterActiveOperand } from '../api.ts';
import { names } from '../names.ts';
import { conditionOfSet } from '../reasons.ts';
import { memberReferenceTo, operandOf } from '../set-references.ts';
import { isGoing } from './cluster-active-operand.ts';
import { noAccount, type MemberView } from './member-client.ts';
import { ownMembers, unownedMembers, type OwnershipProblems, type SetMembers } from './ownership.ts';
import { retryAfterMs } from './retry.ts';

/**
 * Keeps one ActiveOperand true. One that mirrors a ClusterActiveOperand watches over references to that; one made by hand
 * owns its members itself.
 */
export async function reconcileActiveOperand(
  context: ReconcileContext,
  key: ObjectKey,
  { known, client, isBlind }: MemberView,
): Promise<Requeue | undefined> {
  const set = await context.cache.get(ActiveOperand, key);
  if (!set || set.metadata.deletionTimestamp !== undefined) return undefined;
  if (!client) return await sayOwned(context, set, [`${key.name} ${noAccount}`]);
  const mirrorOf = set.metadata.labels?.[names.mirrorOfLabel];
  if (mirrorOf === undefined) return await sayOwned(context, set, await ownByHand(context, set, known));

  // Asked of the server: deleting a mirror because the cache has not seen its set yet would be a needless stir.
  const source = await context.client.get(ClusterActiveOperand, { name: key.name });
  if (source?.metadata.uid !== mirrorOf) {
    // Its set was deleted without its objects; the mirror has nothing to mirror.
    await context.client.delete(ActiveOperand, key, { preconditions: { uid: set.metadata.uid! } });
    return undefined;
  }
  if (source.metadata.deletionTimestamp !== undefined) return undefined;
  const members: SetMembers = {
    client,
    // Whoever may write here may not add to the set.
    live: (source.spec.live ?? []).filter((ref) => ref.namespace === key.namespace),
    owner: memberReferenceTo(source),
    known,
    signal: context.signal,
  };
  const problems = operandOf(source)
    ? await unownedMembers(members, !isBlind && !isConditionTrue(set, 'Ready'))
    : await ownMembers(members, () => isGoing(context, source));
  return await sayOwned(context, set, problems);
}

/** Members elsewhere are refused unseen: their namespace is somebody else's, and so is what is known of them. */
async function ownByHand(
  context: ReconcileContext,
  set: DeepReadonly<ActiveOperand>,
  known: MemberView['known'],
): Promise<OwnershipProblems> {
  const live = set.spec.live ?? [];
  const { namespace } = set.metadata;
  const foreign = live.filter((ref) => ref.namespace !== namespace).length;
  if (foreign > 0)
    return [
      `${foreign} of ${live.length} entries of spec.live are not in namespace ${namespace}; an ActiveOperand owns objects of its own namespace only`,
    ];
  const owner = memberReferenceTo({ ...set, apiVersion: ActiveOperand.apiVersion, kind: ActiveOperand.kind });
  return await ownMembers({ client: context.client, live, owner, known, signal: context.signal }, async () => {
    const now = await context.client.get(ActiveOperand, { namespace: namespace!, name: set.metadata.name! });
    return now?.metadata.uid !== set.metadata.uid || now?.metadata.deletionTimestamp !== undefined;
  });
}

async function sayOwned(
  context: ReconcileContext,
  set: DeepReadonly<ActiveOperand>,
  problems: OwnershipProblems,
): Promise<Requeue | undefined> {
  const count = set.spec.live?.length ?? 0;
  const failure = `Failed to inject ownerrefs: ${firstOfMany(problems, { shown: 5 })}`;
  await context.client.setStatus(set, {
    observedGeneration: set.metadata.generation ?? 0,
    conditions:
      problems.length === 0
        ? [
            conditionOfSet('OwnerRefInjected', true, 'Injected', `${count} members`),
            conditionOfSet('Ready', true, 'Owned', `all ${count} members exist and are owned`),
          ]
        : [
            conditionOfSet('OwnerRefInjected', false, 'Error', failure),
            conditionOfSet('Ready', false, 'Error', failure),
          ],
  });
  return problems.length === 0 ? undefined : requeueAfter(retryAfterMs(set, context.clock.now()));
}
