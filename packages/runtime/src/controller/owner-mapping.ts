import type { CacheEvent, Kind, ObjectKey } from '@slipway/kube';

type Meta = CacheEvent['meta'];

/** The key of the `owner` object that controls what `meta` belongs to, if there is one. Versions of the owner's group are alike. */
export function controllingOwner(meta: Meta, owner: Kind): ObjectKey | undefined {
  const reference = meta.ownerReferences?.find((candidate) => candidate.controller === true);
  if (!reference || reference.kind !== owner.kind || groupOf(reference.apiVersion) !== owner.group) return undefined;
  if (owner.scope === 'Cluster') return { name: reference.name };
  return meta.namespace ? { namespace: meta.namespace, name: reference.name } : undefined;
}

/** The owners an event concerns: the present one and, when that changed, the one before. */
export function ownersOf(event: CacheEvent, owner: Kind): ObjectKey[] {
  const now = controllingOwner(event.meta, owner);
  const keys = now ? [now] : [];
  if (event.type === 'updated' && event.oldMeta) {
    const before = controllingOwner(event.oldMeta, owner);
    if (before && before.name !== now?.name) keys.push(before);
  }
  return keys;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
