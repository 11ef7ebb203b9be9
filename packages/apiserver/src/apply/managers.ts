import type { ManagedFields } from '../object.ts';
import { FieldSet } from './field-set.ts';

/** Who owns what: one entry of `managedFields` with its set decoded. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** Absent when the entry appeared without any change to the object. */
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** Managers by identity. */
export type Managers = ReadonlyMap<string, Manager>;

/** Appliers are one whichever version they write in; updaters are told apart by it. */
export function identityOf(manager: Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const { manager: name, operation, apiVersion, subresource } = manager;
  return JSON.stringify({
    manager: name,
    operation,
    ...(operation === 'Update' ? { apiVersion } : {}),
    ...(subresource === '' ? {} : { subresource }),
  });
}

const cache = new WeakMap<object, FieldSet>();

/** Reads `metadata.managedFields`. Throws an Error that names the entry when one cannot be read. */
export function decodeManagers(entries: readonly ManagedFields[] | undefined): Map<string, Manager> {
  const managers = new Map<string, Manager>();
  for (const [index, entry] of (entries ?? []).entries()) {
    const { operation, apiVersion, fieldsType, fieldsV1 } = entry;
    if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`');
    if (!apiVersion) throw new Error('apiVersion must not be empty');
    if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
    if (fieldsType !== 'FieldsV1') {
      throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
    }
    const fields = fieldsV1 ?? {};
    let set = cache.get(fields);
    if (!set) {
      set = FieldSet.fromFieldsV1(fields);
      cache.set(fields, set);
    }
    const manager: Manager = {
      manager: entry.manager ?? '',
      operation,
      apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time,
      set,
    };
    managers.set(identityOf(manager), manager);
  }
  return managers;
}

export function encodeManagers(managers: Iterable<Manager>): ManagedFields[] {
  return [...managers].toSorted(compareManagers).map(({ manager, operation, apiVersion, subresource, time, set }) => {
    const fieldsV1 = set.toFieldsV1();
    cache.set(fieldsV1, set);
    return {
      ...(manager === '' ? {} : { manager }),
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1,
      ...(subresource === '' ? {} : { subresource }),
    };
  });
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareManagers(a: Manager, b: Manager): number {
  return (
    byText(a.operation, b.operation) ||
    byText(a.time ?? '', b.time ?? '') ||
    byText(a.manager, b.manager) ||
    byText(a.apiVersion, b.apiVersion) ||
    byText(a.subresource, b.subresource)
  );
}

const maxUpdateManagers = 10;
const oldUpdatesManager = 'ancient-changes';

/** Folds the oldest updaters of a version into one entry when there are more than ten. */
export function capUpdateManagers(managers: Map<string, Manager>): Map<string, Manager> {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  let count = updaters.length;
  if (count <= maxUpdateManagers) return managers;
  const result = new Map(managers);
  updaters.sort(([a, { time: x = '' }], [b, { time: y = '' }]) => byText(x, y) || byText(a, b));
  const firstOfVersion = new Map<string, string>();
  for (const [identity, manager] of updaters) {
    if (count <= maxUpdateManagers) break;
    const { apiVersion, time, set } = manager;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, identity);
      continue;
    }
    const bucket: Manager = {
      manager: oldUpdatesManager,
      operation: 'Update',
      apiVersion,
      subresource: '',
      time,
      set,
    };
    const bucketIdentity = identityOf(bucket);
    let collected = result.get(bucketIdentity)?.set;
    if (collected === undefined) {
      collected = result.get(first)?.set;
      result.delete(first);
    }
    result.delete(identity);
    result.set(bucketIdentity, { ...bucket, set: collected ? set.union(collected) : set });
    count -= 1;
  }
  return result;
}
