import { equalJson } from '../equal-json.ts';
import { badRequest, plainInternalError } from '../api-error.ts';
import type { ApiObject, Json, JsonObject, ManagedFields } from '../object.ts';
import { withPrintedMetadata } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';
import { addZeroValues, zeroObject } from '../schema/zero-values.ts';
import { type Comparison, compareValues, excludeFields } from './compare-values.ts';
import { type Conflict, applyConflict, conflictsOf } from './conflict.ts';
import { FieldSet } from './field-set.ts';
import { ElementError, type FieldType, fieldTypeOf } from './field-type.ts';
import { keepLastApplied, unchangedSinceLastApplied } from './last-applied.ts';
import { type Manager, capUpdateManagers, decodeManagers, encodeManagers, identityOf } from './managers.ts';
import { fieldElement } from './path-element.ts';
import { TypedValueError, fieldSetOf, mergeValues, removeItems, validateValue } from './typed-value.ts';

/** What both kinds of writes say about themselves. */
export interface WriteContext {
  /** The stored object in the version of the request; undefined when it is being created. */
  readonly live: ApiObject | undefined;
  readonly schema: Schema;
  readonly custom: boolean;
  readonly manager: string;
  /** `apps/v1`, the version of the request. */
  readonly apiVersion: string;
  /** `status`, `scale`, …; absent for the object itself. */
  readonly subresource?: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** Fields this endpoint does not let through, such as `[['status']]`; they are never owned through it. */
  readonly resetFields?: readonly (readonly string[])[];
}

export interface UpdateWrite extends WriteContext {
  /** The object about to be stored, after defaulting and before admission. */
  readonly next: ApiObject;
}

export interface ApplyWrite extends WriteContext {
  readonly config: ApiObject;
  /** The kind the endpoint serves; default: that of `live`, or whatever the config says. */
  readonly kind?: string;
  readonly force: boolean;
  /** Defaults the merged object. */
  finish(merged: ApiObject): ApiObject;
}

/** Never owned by anybody. */
const systemFields = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', fieldElement(name)]),
);

/**
 * Who owns what after a create, an update or a patch that is not an apply. Answers the new `metadata.managedFields`; an empty
 * list means the field is to be left out.
 */
export function trackUpdate(write: UpdateWrite): ManagedFields[] {
  const { live, next } = write;
  let managers: Map<string, Manager>;
  try {
    managers = managersBefore(write);
  } catch {
    managers = new Map();
  }
  // An object nobody tracks stays so until its first apply.
  if (managers.size === 0 && live !== undefined && live.metadata.uid) return [];
  try {
    managers = update(liveValue(write), withoutManagedFields(next), managers, write);
  } catch (error) {
    // Objects that break the schema's own rules (elements without keys) are stored untracked.
    if (error instanceof ElementError || error instanceof TypedValueError) return [];
    throw error;
  }
  return encodeManagers(capUpdateManagers(managers).values());
}

/** The managers to start from: the request may replace or reset them, except through a subresource. */
function managersBefore({ live, next, subresource }: UpdateWrite): Map<string, Manager> {
  const stored = live?.metadata.managedFields;
  if (subresource) return decodeManagers(stored);
  const given = next.metadata.managedFields;
  if (isReset(given)) return new Map();
  try {
    const managers = decodeManagers(given);
    if (managers.size > 0) return managers;
  } catch {
    // Broken entries in the request are ignored.
  }
  return decodeManagers(stored);
}

function isReset(entries: readonly ManagedFields[] | undefined | null): boolean {
  if (!Array.isArray(entries)) return false;
  const [first] = entries as ManagedFields[];
  return first === undefined || (entries.length === 1 && Object.keys(first).length === 0);
}

function withoutManagedFields(object: ApiObject): JsonObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata } as unknown as JsonObject;
}

/** What a new object starts from: Go's zero value for built-ins, nothing for custom resources. */
function emptyValue({ custom, schema, apiVersion }: WriteContext, kind: string | undefined): JsonObject {
  const typeMeta = { apiVersion, ...(kind === undefined ? {} : { kind }) };
  return custom ? typeMeta : { ...zeroObject(schema), ...typeMeta };
}

function liveValue(write: UpdateWrite): JsonObject {
  return write.live ? withoutManagedFields(write.live) : emptyValue(write, write.next.kind);
}

function resetSet({ resetFields = [] }: WriteContext): FieldSet {
  return FieldSet.of(...resetFields.map((path) => path.map(fieldElement)));
}

/** Ownership after `manager` changed `before` into `after`. */
function update(
  before: JsonObject,
  after: JsonObject,
  managers: ReadonlyMap<string, Manager>,
  write: WriteContext,
): Map<string, Manager> {
  const comparison = excludeFields(compareValues(before, after, fieldTypeOf(write.schema)), resetSet(write));
  const { managers: rest } = takeOver(comparison, managers, undefined);
  const changed = comparison.added.union(comparison.modified);
  const set = changed.recursiveDifference(resetSet(write)).difference(systemFields);
  if (!set.isEmpty) {
    const own = {
      manager: write.manager || 'unknown',
      operation: 'Update' as const,
      apiVersion: write.apiVersion,
      subresource: write.subresource ?? '',
    };
    const identity = identityOf(own);
    const previous = rest.get(identity)?.set;
    rest.set(identity, { ...own, time: write.now, set: previous ? set.union(previous) : set });
  }
  return rest;
}

/** Takes what changed from everybody but `self`, and lists what was taken from whom. */
function takeOver(
  { added, modified, removed }: Comparison,
  managers: ReadonlyMap<string, Manager>,
  self: string | undefined,
): { managers: Map<string, Manager>; conflicts: Conflict[] } {
  const changed = added.union(modified);
  const result = new Map<string, Manager>();
  const taken: [Manager, FieldSet][] = [];
  for (const [identity, manager] of managers) {
    if (identity === self) {
      if (!manager.set.isEmpty) result.set(identity, manager);
      continue;
    }
    const conflict = manager.set.intersection(changed);
    if (!conflict.isEmpty) taken.push([manager, conflict]);
    const set = manager.set.difference(conflict).difference(removed);
    if (!set.isEmpty) result.set(identity, { ...manager, set });
  }
  taken.sort(([a], [b]) => (identityOf(a) < identityOf(b) ? -1 : 1));
  return { managers: result, conflicts: conflictsOf(taken) };
}

/** Throws a 500 without a reason when a configuration has fields its kind does not have, as the real server does. */
export function checkTyped(config: ApiObject, type: FieldType): void {
  try {
    validateValue(config as unknown as JsonObject, type, { allowDuplicates: false });
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error;
    const where = `${textOf(config.metadata.namespace)}/${textOf(config.metadata.name)}; ${gvkText(config)}`;
    throw plainInternalError(`failed to create typed patch object (${where}): ${error.message}`);
  }
}

/**
 * Server-side apply: lays `config` over the stored object, removes what this manager applied before and does not mention any
 * more, and settles ownership. Throws a 409 when others own what would change and `force` is not set, a 400 for a config of the
 * wrong kind, and a 500 without reason for one that breaks the schema (as the real server does).
 */
export function applyConfiguration(write: ApplyWrite): ApiObject {
  const { config, schema, live } = write;
  checkConfig(write);
  const type = fieldTypeOf(schema);
  checkTyped(config, type);
  const before = live ? withoutManagedFields(live) : emptyValue(write, config.kind);
  let managers = decodeLive(live);
  if (managers.size === 0) {
    const first = { ...write, manager: 'before-first-apply' };
    managers = update(emptyValue(write, config.kind), before, managers, first);
  }
  const outcome = applyTo(before, managers, type, write);
  const { object, managers: after } = outcome;
  const merged = object === undefined ? copyOf(live, before) : write.finish(printed(object, write));
  const managedFields = encodeManagers(after.values());
  const { managedFields: _, ...metadata } = merged.metadata;
  const result: ApiObject = {
    ...merged,
    metadata: managedFields.length > 0 ? { ...metadata, managedFields } : metadata,
  };
  return write.manager === 'kubectl' ? keepLastApplied(result, config) : result;
}

function checkConfig({ config, apiVersion, live, kind = live?.kind }: ApplyWrite): void {
  if (config.apiVersion !== apiVersion || !config.kind || (kind !== undefined && config.kind !== kind)) {
    throw badRequest(`invalid object type: ${gvkText(config)}`);
  }
  if (config.metadata.managedFields !== undefined && config.metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
}

/** Go reads a field of the wrong type as empty here. */
function gvkText(config: ApiObject): string {
  const apiVersion = typeof config.apiVersion === 'string' ? config.apiVersion : '';
  const kind = typeof config.kind === 'string' ? config.kind : '';
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function decodeLive(live: ApiObject | undefined): Map<string, Manager> {
  try {
    return decodeManagers(live?.metadata.managedFields);
  } catch (error) {
    throw plainInternalError(`failed to decode managed fields: ${(error as Error).message}`);
  }
}

/** The merged object before defaulting, as its Go struct prints it. */
function printed(object: JsonObject, { custom, schema }: WriteContext): ApiObject {
  return custom ? withPrintedMetadata(object as unknown as ApiObject) : (addZeroValues(object, schema) as never);
}

function copyOf(live: ApiObject | undefined, before: JsonObject): ApiObject {
  return (live ?? before) as unknown as ApiObject;
}

interface Applied {
  /** Undefined when nothing changed. */
  object: JsonObject | undefined;
  managers: Map<string, Manager>;
}

function applyTo(
  before: JsonObject,
  managers: ReadonlyMap<string, Manager>,
  type: FieldType,
  write: ApplyWrite,
): Applied {
  const config = write.config as unknown as JsonObject;
  const reset = resetSet(write);
  const own = {
    manager: write.manager,
    operation: 'Apply' as const,
    apiVersion: write.apiVersion,
    subresource: write.subresource ?? '',
  };
  const self = identityOf(own);
  const last = managers.get(self);
  const set = fieldSetOf(config, type).recursiveDifference(reset);
  const claimed = new Map(managers);
  claimed.set(self, { ...own, time: last?.time, set });

  let merged = mergeValues(before, config, type) as JsonObject;
  if (last && !last.set.isEmpty) merged = removeAbandoned(merged, last.set, claimed, type);

  const comparison = excludeFields(compareValues(before, merged, type), reset);
  const { managers: rest, conflicts } = takeOver(comparison, claimed, self);
  const left = write.force ? [] : disputed(conflicts, before, type, write);
  if (left.length > 0) throw applyConflict(left);

  const changed = !equalJson(before, merged);
  const mine = rest.get(self);
  rest.delete(self);
  const owned = mine?.set.difference(systemFields);
  if (owned && !owned.isEmpty) {
    const time = changed ? write.now : last?.time;
    rest.set(self, { ...own, time, set: owned });
  }
  return { object: changed ? merged : undefined, managers: rest };
}

/** kubectl may take over what it applied client-side before, as far as nobody changed it since. */
function disputed(conflicts: Conflict[], before: JsonObject, type: FieldType, write: ApplyWrite): Conflict[] {
  if (conflicts.length === 0 || write.manager !== 'kubectl') return conflicts;
  const allowed = unchangedSinceLastApplied(before, type, write.apiVersion);
  return allowed ? conflicts.filter(({ path }) => !allowed.has(path)) : conflicts;
}

/** `merged` without what was in the last set of this manager, is not in the new one, and nobody else owns. */
function removeAbandoned(
  merged: JsonObject,
  last: FieldSet,
  managers: ReadonlyMap<string, Manager>,
  type: FieldType,
): JsonObject {
  const remove = (items: FieldSet): JsonObject => (removeItems(merged, items, type) ?? {}) as JsonObject;
  const lastNamed = last.withNamedFields(type);
  let owned = new FieldSet();
  for (const { set } of managers.values()) owned = owned.union(set);
  const all = fieldSetOf(merged, type).withNamedFields(type);

  const pruned = fieldSetOf(remove(lastNamed), type).withNamedFields(type);
  const kept = remove(all.difference(pruned.union(owned.withNamedFields(type))));
  // Removing a list element takes its fields with it; only what this manager had applied may go.
  const gone = all.difference(fieldSetOf(kept, type).withNamedFields(type));
  return remove(gone.intersection(lastNamed));
}

/**
 * Timestamps of `managedFields` alone are no change: answers the stored entries when the written ones differ from them in
 * nothing but times and the objects are otherwise alike.
 */
export function withStoredTimes(next: ApiObject, live: ApiObject): ApiObject {
  const entries = next.metadata.managedFields;
  const stored = live.metadata.managedFields;
  if (!entries || !stored || entries.length !== stored.length) return next;
  const timeless = (list: readonly ManagedFields[]): JsonObject =>
    Object.fromEntries(list.map((entry) => [keyOf(entry), { ...entry, time: null } as unknown as Json]));
  if (!equalJson(timeless(entries), timeless(stored))) return next;
  if (!equalJson(withoutManagedFields(next), withoutManagedFields(live))) return next;
  return { ...next, metadata: { ...next.metadata, managedFields: stored } };
}

function keyOf({ manager, operation, apiVersion, subresource }: ManagedFields): string {
  return JSON.stringify([manager, operation, apiVersion, subresource]);
}

/** What is no text is not read as any. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
