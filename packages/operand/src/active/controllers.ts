import type { CacheEvent, DeepReadonly, ObjectKey } from '@slipway/kube';
import { MemberWatch } from '@slipway/manifests';
import { controller, type Controller, type ReconcileContext } from '@slipway/runtime';

import { ActiveOperand, ClusterActiveOperand, Operand } from '../api.ts';
import type { AccountSettings } from '../account.ts';
import { memberClient, mirrored } from './member-client.ts';
import { reconcileActiveOperand } from './active-operand.ts';
import { reconcileClusterActiveOperand } from './cluster-active-operand.ts';
import type { LiveRef } from '../live-refs.ts';
import { notStatusAlone } from '../wakes.ts';
import { OwnedMembers } from './owned-members.ts';

/** The controllers of both kinds of ActiveOperands: woken by the sets themselves, by each other and by members. */
export function activeOperandControllers(settings: AccountSettings = {}): Controller[] {
  const known = new OwnedMembers();
  const clusterMembers = new MemberWatch((event, kind) => {
    if (event.key.namespace) return [];
    known.note(event, kind);
    return setsOf(event);
  });
  const members = new MemberWatch((event, kind) => {
    const { namespace } = event.key;
    if (!namespace) return [];
    known.note(event, kind);
    return setsOf(event).map(({ name }) => ({ namespace, name }));
  });
  return [
    controller({
      name: 'clusteractiveoperand',
      for: ClusterActiveOperand,
      predicates: [notStatusAlone],
      owns: [ActiveOperand],
      reads: [Operand],
      sources: [clusterMembers],
      concurrency: 4,
      async reconcile(context, key) {
        const set = await context.cache.get(ClusterActiveOperand, key);
        const isBlind = await follow(
          context,
          clusterMembers,
          key,
          (set?.spec.live ?? []).filter((ref) => ref.namespace === ''),
        );
        const client = await memberClient(context, set, settings);
        return await reconcileClusterActiveOperand(context, key, { known, client, isBlind });
      },
    }),
    controller({
      name: 'activeoperand',
      for: ActiveOperand,
      predicates: [notStatusAlone],
      watches: [{ kind: ClusterActiveOperand, map: mirrorsOf, predicates: [] }],
      sources: [members],
      concurrency: 4,
      async reconcile(context, key) {
        const set = await context.cache.get(ActiveOperand, key);
        const isBlind = await follow(context, members, key, set?.spec.live ?? []);
        const source = await context.cache.get(ClusterActiveOperand, { name: key.name });
        const client = await memberClient(context, set && mirrored(set, source), settings);
        return await reconcileActiveOperand(context, key, { known, client, isBlind });
      },
    }),
  ];
}

/** The names of the sets that own a member. */
function setsOf(event: CacheEvent): ObjectKey[] {
  const owners =
    event.meta.ownerReferences?.filter((reference) => reference.apiVersion === ClusterActiveOperand.apiVersion) ?? [];
  return [...new Set(owners.map((reference) => reference.name))].map((name) => ({ name }));
}

/** A set that goes without its objects leaves mirrors behind; they must notice. */
async function mirrorsOf(
  event: CacheEvent,
  { cache }: { cache: ReconcileContext['cache'] },
): Promise<readonly ObjectKey[]> {
  if (event.type !== 'deleted') return [];
  const mirrors = await cache.list(ActiveOperand);
  return mirrors
    .filter((mirror) => mirror.metadata.name === event.key.name)
    .map((mirror) => ({ namespace: mirror.metadata.namespace!, name: mirror.metadata.name! }));
}

async function follow(
  context: ReconcileContext,
  watch: MemberWatch,
  owner: ObjectKey,
  live: readonly DeepReadonly<LiveRef>[],
): Promise<boolean> {
  const wanted = new Map(live.map((ref) => [`${ref.group}/${ref.kind}`, ref]));
  const kinds = await Promise.all(
    [...wanted.values()].map((ref) => context.client.resolveGroupKind(ref.group, ref.kind).catch(() => undefined)),
  );
  const followed = await watch.followAllowed(
    owner,
    context.client,
    kinds.filter((kind) => kind !== undefined),
  );
  return followed.isBlind;
}
