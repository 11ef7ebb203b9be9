import type { CacheEvent, DeepReadonly, ObjectKey } from '@slipway/kube';
import { MemberWatch } from '@slipway/manifests';
import { controller, type Controller, type ReconcileContext } from '@slipway/runtime';

import { ActiveOperand, ClusterActiveOperand } from '../api.ts';
import { reconcileActiveOperand } from './active-operand.ts';
import { reconcileClusterActiveOperand } from './cluster-active-operand.ts';
import type { LiveRef } from '../live-refs.ts';
import { notStatusAlone } from '../wakes.ts';
import { OwnedMembers } from './owned-members.ts';

/** The controllers of both kinds of ActiveOperands: woken by the sets themselves, by each other and by members. */
export function activeOperandControllers(): Controller[] {
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
      sources: [clusterMembers],
      concurrency: 4,
      async reconcile(context, key) {
        const set = await context.cache.get(ClusterActiveOperand, key);
        await follow(
          context,
          clusterMembers,
          (set?.spec.live ?? []).filter((ref) => ref.namespace === ''),
        );
        return await reconcileClusterActiveOperand(context, key, known);
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
        await follow(context, members, set?.spec.live ?? []);
        return await reconcileActiveOperand(context, key, known);
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
  live: readonly DeepReadonly<LiveRef>[],
): Promise<void> {
  const wanted = new Map(live.map((ref) => [`${ref.group}/${ref.kind}`, ref]));
  const kinds = await Promise.all(
    [...wanted.values()].map((ref) => context.client.resolveGroupKind(ref.group, ref.kind).catch(() => undefined)),
  );
  watch.follow(kinds.filter((kind) => kind !== undefined));
}
