import {
  controllerReference,
  firstOfMany,
  hasFinalizer,
  isAlreadyExists,
  isConditionTrue,
  minutes,
  type Client,
  type DeepReadonly,
  type ObjectKey,
} from '@slipway/kube';
import { requeueAfter, type ReconcileContext, type Requeue } from '@slipway/runtime';

import { ActiveOperand, ClusterActiveOperand, Operand } from '../api.ts';
import type { LiveRef } from '../live-refs.ts';
import { names } from '../names.ts';
import { conditionOfSet } from '../reasons.ts';
import { memberReferenceTo, operandOf } from '../set-references.ts';
import { noAccount, type MemberView } from './member-client.ts';
import { ownMembers, unownedMembers, type SetMembers } from './ownership.ts';
import { retryAfterMs } from './retry.ts';

/** Keeps one ClusterActiveOperand true: an ActiveOperand per namespace, and every cluster-scoped member owned. */
export async function reconcileClusterActiveOperand(
  context: ReconcileContext,
  key: ObjectKey,
  { known, client, isBlind }: MemberView,
): Promise<Requeue | undefined> {
  const set = await context.cache.get(ClusterActiveOperand, key);
  if (!set) return undefined;
  if (set.metadata.deletionTimestamp !== undefined) return await letGoWithoutOperand(context, set);
  const live = set.spec.live ?? [];

  // 1. One ActiveOperand for the members of each namespace.
  const namespaces = Map.groupBy(
    live.filter((ref) => ref.namespace !== ''),
    (ref) => ref.namespace,
  );
  const waiting: string[] = [];
  for (const [namespace, members] of [...namespaces].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const problem = client ? await ensureDelegate(context, set, namespace, members, client) : noAccount;
    if (problem !== undefined) waiting.push(`ns: ${namespace}, err ${problem}`);
  }

  // 2. The owner on every cluster-scoped member.
  const clusterLive = live.filter((ref) => ref.namespace === '');
  const members: SetMembers | undefined = client && {
    client,
    live: clusterLive,
    owner: memberReferenceTo(asObject(set)),
    known,
    signal: context.signal,
  };
  const problems = !members
    ? [`${key.name} ${noAccount}`]
    : operandOf(set)
      ? await unownedMembers(members, !isBlind && !isConditionTrue(set, 'Ready'))
      : await ownMembers(members, () => isGoing(context, set));

  // 3. Say so.
  const delegatesReady = waiting.length === 0;
  const owned = problems.length === 0;
  await context.client.setStatus(set, {
    observedGeneration: set.metadata.generation ?? 0,
    delegates: [...namespaces.keys()].sort().map((namespace) => ({ namespace })),
    ClusterLive: clusterLive.map((ref) => ({ ...ref })),
    conditions: [
      delegatesReady
        ? conditionOfSet('NamespaceDelegatesReady', true, 'Ready', `${namespaces.size} namespaces`)
        : conditionOfSet(
            'NamespaceDelegatesReady',
            false,
            'Error',
            `Failed to add ownerrefs to namespaces: ${waiting.join(', ')}`,
          ),
      owned
        ? conditionOfSet('OwnerRefInjected', true, 'Injected', `${clusterLive.length} cluster-scoped members`)
        : conditionOfSet(
            'OwnerRefInjected',
            false,
            'Error',
            `Failed to inject ownerrefs: ${firstOfMany(problems, { shown: 5 })}`,
          ),
      delegatesReady && owned
        ? conditionOfSet('Ready', true, 'Owned', `all ${live.length} members exist and are owned`)
        : conditionOfSet('Ready', false, 'Error', delegatesReady || !client ? problems[0]! : waiting[0]!),
    ],
  });
  return delegatesReady && owned ? undefined : requeueAfter(retryAfterMs(set, context.clock.now()));
}

/** Whether the set, as the server has it now, is another one or on its way out. */
export async function isGoing(context: ReconcileContext, set: DeepReadonly<ClusterActiveOperand>): Promise<boolean> {
  const now = await context.client.get(ClusterActiveOperand, { name: set.metadata.name! });
  return now?.metadata.uid !== set.metadata.uid || now?.metadata.deletionTimestamp !== undefined;
}

/** A set that is going is let go by its Operand, which knows what is still wanted. Without one nobody wants anything. */
async function letGoWithoutOperand(
  context: ReconcileContext,
  set: DeepReadonly<ClusterActiveOperand>,
): Promise<Requeue | undefined> {
  if (!hasFinalizer(set, names.setFinalizer)) return undefined;
  const reference = operandOf(set);
  const operand = reference && (await context.client.get(Operand, { name: reference.name }));
  if (operand?.metadata.uid === reference?.uid && operand !== undefined) return requeueAfter(minutes(1));
  await context.client.removeFinalizer(set, names.setFinalizer);
  return undefined;
}

/** Objects of a cache need not say what they are. */
function asObject(set: DeepReadonly<ClusterActiveOperand>): DeepReadonly<ClusterActiveOperand> {
  return { ...set, apiVersion: ClusterActiveOperand.apiVersion, kind: ClusterActiveOperand.kind };
}

/**
 * Whether the account of a set may write any of its members of one namespace. The ActiveOperand there is made with the rights of
 * the operator: without this, naming an object of somebody else's namespace would be enough to put one there.
 */
async function mayWriteOneOf(
  members: readonly DeepReadonly<LiveRef>[],
  client: Client,
  context: ReconcileContext,
): Promise<boolean> {
  if (client === context.client) return true;
  for (const { group, kind, namespace, name } of members) {
    const found = await client.resolveGroupKind(group, kind, { signal: context.signal }).catch(() => undefined);
    if (!found) continue;
    const access = { verb: 'patch', group, resource: found.plural, namespace, name };
    if ((await client.canI(access, { signal: context.signal })).allowed) return true;
  }
  return false;
}

/** The ActiveOperand of a namespace. Returns why it is not ready, or nothing. */
async function ensureDelegate(
  context: ReconcileContext,
  set: DeepReadonly<ClusterActiveOperand>,
  namespace: string,
  members: readonly DeepReadonly<LiveRef>[],
  client: Client,
): Promise<string | undefined> {
  const key = { namespace, name: set.metadata.name! };
  const delegate = await context.cache.get(ActiveOperand, key);
  if (delegate?.metadata.deletionTimestamp !== undefined) return 'ActiveOperand is being deleted';
  if (delegate && delegate.metadata.labels?.[names.mirrorOfLabel] !== set.metadata.uid)
    return 'an ActiveOperand of this name belongs to somebody else';
  if (!delegate) {
    // Asked of the server: made for a set that is gone, it would be deleted and made again for as long as the watch is behind.
    if (await isGoing(context, set)) return 'the set is being deleted';
    try {
      if (!(await mayWriteOneOf(members, client, context)))
        return 'the account of the Operand may write none of the members there';
      await context.client.create<ActiveOperand>({
        apiVersion: ActiveOperand.apiVersion,
        kind: 'ActiveOperand',
        metadata: {
          ...key,
          labels: { [names.mirrorOfLabel]: set.metadata.uid! },
          ownerReferences: [controllerReference(asObject(set))],
        },
        spec: { live: members.map((ref) => ({ ...ref })) },
      } as ActiveOperand);
    } catch (error) {
      // The namespace is a member like any other and may come later.
      if (!isAlreadyExists(error)) return error instanceof Error ? error.message : String(error);
    }
    return 'not ready';
  }
  return isConditionTrue(delegate, 'Ready') ? undefined : 'not ready';
}
