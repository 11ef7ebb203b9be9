import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { isDeepStrictEqual } from 'node:util';

import { parseExactJson } from './exact-integer.ts';

type FieldSet = { readonly [key: string]: FieldSet };

/**
 * Whether applying `config` as `manager` would change nothing: the manager owns exactly the fields `config` has, and the live
 * object has the same values there. Works from the ownership the server recorded (`managedFields`), so it needs no schema
 * and no request. A `false` may be wrong (the server normalises some values, such as quantities); a `true` never is.
 */
export function isAppliedAlready(
  config: DeepReadonly<KubeObject>,
  live: DeepReadonly<KubeObject>,
  manager: string,
): boolean {
  const entry = live.metadata.managedFields?.find(
    (item) => item.manager === manager && item.operation === 'Apply' && !item.subresource,
  );
  if (!entry?.fieldsV1) return false;
  // Ownership recorded under another version of the kind may use other field names.
  if (entry.apiVersion !== config.apiVersion) return false;
  return sameAt(config, live, entry.fieldsV1 as FieldSet, 'root');
}

/**
 * Whether applying `config` as `manager` would change nothing but owner references. What owns an object changes with every set
 * it belongs to, and says nothing about the object.
 */
export function isAppliedButForOwners(
  config: DeepReadonly<KubeObject>,
  live: DeepReadonly<KubeObject>,
  manager: string,
): boolean {
  const entry = live.metadata.managedFields?.find(
    (item) => item.manager === manager && item.operation === 'Apply' && !item.subresource,
  );
  const owned = (entry?.fieldsV1 as FieldSet | undefined)?.['f:metadata']?.['f:ownerReferences'] ?? {};
  const owners = (live.metadata.ownerReferences ?? []).filter(({ uid }) => owned[`k:${JSON.stringify({ uid })}`]);
  const { ownerReferences: _other, ...metadata } = config.metadata;
  const unchanged = { ...config, metadata: owners.length > 0 ? { ...metadata, ownerReferences: owners } : metadata };
  return isAppliedAlready(unchanged, live, manager);
}

type Place = 'root' | 'metadata' | 'inside';

/** Fields that identify the object or that the server fills; they are never tracked. */
const untracked: Readonly<Record<Place, ReadonlySet<string>>> = {
  root: new Set(['apiVersion', 'kind', 'status']),
  metadata: new Set([
    'name',
    'namespace',
    'creationTimestamp',
    'managedFields',
    'uid',
    'resourceVersion',
    'generation',
  ]),
  inside: new Set(),
};

function sameAt(config: unknown, live: unknown, owned: FieldSet, place: Place): boolean {
  const keys = Object.keys(owned).filter((key) => key !== '.');
  if (keys.length === 0) return isDeepStrictEqual(config, live);
  switch (keys[0]![0]) {
    case 'f':
      return sameObject(config, live, owned, keys, place);
    case 'k':
      return sameListMap(config, live, owned, keys);
    case 'v':
      return sameSet(config, live, keys);
    default:
      return false;
  }
}

function sameObject(config: unknown, live: unknown, owned: FieldSet, keys: readonly string[], place: Place): boolean {
  if (!isObject(config) || !isObject(live)) return false;
  for (const key of keys) {
    const name = key.slice(2);
    if (config[name] === undefined || config[name] === null) return false;
    const inner = place === 'root' && name === 'metadata' ? 'metadata' : 'inside';
    if (!sameAt(config[name], live[name], owned[key]!, inner)) return false;
  }
  for (const [name, value] of Object.entries(config)) {
    if (value === undefined || value === null || untracked[place].has(name)) continue;
    // `metadata` itself has no entry when none of its tracked fields are set.
    if (place === 'root' && name === 'metadata') {
      if (!owned['f:metadata'] && Object.keys(value as object).some((field) => !untracked.metadata.has(field)))
        return false;
      continue;
    }
    if (!owned[`f:${name}`]) return false;
  }
  return true;
}

function sameListMap(config: unknown, live: unknown, owned: FieldSet, keys: readonly string[]): boolean {
  if (!Array.isArray(config) || !Array.isArray(live) || config.length !== keys.length) return false;
  const left = new Set<unknown>(config);
  for (const key of keys) {
    const identity = parseExactJson(key.slice(2)) as Record<string, unknown>;
    const liveItem = live.find(
      (item) =>
        isObject(item) && Object.entries(identity).every(([name, value]) => isDeepStrictEqual(item[name], value)),
    );
    // Key fields the manifest leaves out have been defaulted by the server (a port's protocol, say).
    const configItem = [...left].find(
      (item) =>
        isObject(item) &&
        Object.entries(identity).every(
          ([name, value]) => item[name] === undefined || isDeepStrictEqual(item[name], value),
        ),
    );
    if (liveItem === undefined || configItem === undefined) return false;
    left.delete(configItem);
    if (!sameListItem(configItem, liveItem, owned[key]!, identity)) return false;
  }
  return true;
}

function sameListItem(config: unknown, live: unknown, owned: FieldSet, identity: Record<string, unknown>): boolean {
  if (!isObject(config)) return false;
  const complete = { ...config };
  // Only defaulted keys the server recorded as owned need to be there for the comparison.
  for (const [name, value] of Object.entries(identity)) {
    if (complete[name] === undefined && owned[`f:${name}`]) complete[name] = value;
  }
  return sameAt(complete, live, owned, 'inside');
}

function sameSet(config: unknown, live: unknown, keys: readonly string[]): boolean {
  if (!Array.isArray(config) || !Array.isArray(live) || config.length !== keys.length) return false;
  return keys.every((key) => {
    const value = parseExactJson(key.slice(2));
    return config.some((item) => isDeepStrictEqual(item, value)) && live.some((item) => isDeepStrictEqual(item, value));
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
