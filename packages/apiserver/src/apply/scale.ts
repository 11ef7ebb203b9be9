import { equalJson } from '../equal-json.ts';
import type { ApiObject, Json, ManagedFields } from '../object.ts';
import type { Conflict } from './conflict.ts';
import { FieldSet } from './field-set.ts';
import { decodeManagers, encodeManagers, identityOf } from './managers.ts';
import { fieldElement } from './path-element.ts';

/** A write through `/scale`, seen from the object that is scaled. */
export interface ScaleWrite {
  readonly live: ApiObject;
  readonly next: ApiObject;
  readonly manager: string;
  /** The version of the scaled object, such as `apps/v1`. */
  readonly apiVersion: string;
  /** Where the replicas are, such as `['spec', 'replicas']`. */
  readonly replicasPath: readonly string[];
}

/**
 * Who owns what after a write through `/scale`: the replicas go to a new owner with subresource `scale`, which (as on the real
 * server) carries no time. Replicas nobody owned stay unowned.
 */
export function trackScale({ live, next, manager, apiVersion, replicasPath }: ScaleWrite): ManagedFields[] {
  const stored = live.metadata.managedFields ?? [];
  if (equalJson(valueAt(live, replicasPath), valueAt(next, replicasPath))) return stored;
  const path = replicasPath.map(fieldElement);
  const replicas = FieldSet.of(path);
  const managers = decodeManagers(stored);
  const owners = [...managers].filter(([, { set }]) => set.has(path));
  if (owners.length === 0) return stored;
  for (const [identity, owner] of owners) {
    const set = owner.set.difference(replicas);
    if (set.isEmpty) managers.delete(identity);
    else managers.set(identity, { ...owner, set });
  }
  const entry = {
    manager: manager || 'unknown',
    operation: 'Update' as const,
    apiVersion,
    subresource: 'scale',
    time: undefined,
    set: replicas,
  };
  managers.set(identityOf(entry), entry);
  return encodeManagers(managers.values());
}

/** Who stands in the way of an apply through `/scale` that is not forced. */
export function scaleConflicts({ live, next, manager, replicasPath }: ScaleWrite): Conflict[] {
  if (equalJson(valueAt(live, replicasPath), valueAt(next, replicasPath))) return [];
  const path = replicasPath.map(fieldElement);
  return [...decodeManagers(live.metadata.managedFields).values()]
    .filter((owner) => owner.set.has(path) && !(owner.manager === manager && owner.subresource === 'scale'))
    .map((owner) => ({ manager: owner, path }));
}

function valueAt(object: ApiObject, path: readonly string[]): Json | undefined {
  let value: unknown = object;
  for (const name of path) value = (value as Record<string, unknown> | undefined | null)?.[name];
  return value as Json | undefined;
}
