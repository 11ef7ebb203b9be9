import { isJsonObject } from '../big-integer.ts';
import { equalJson } from '../equal-json.ts';
import { type ApiError, badRequest, plainInternalError } from '../api-error.ts';
import { goValue } from '../apply/typed-value.ts';
import type { Json, JsonObject } from '../object.ts';
import { getOwn, setOwn } from '../own-property.ts';
import type { Schema } from '../schema/schema.ts';
import { patchRejected } from './json-patch.ts';

const patchDirective = '$patch';
const retainKeysDirective = '$retainKeys';
const orderPrefix = '$setElementOrder/';
const deletePrefix = '$deleteFromPrimitiveList/';

/**
 * Applies a strategic merge patch to a built-in object: lists merge by the keys the schema names, and directives (`$patch`,
 * `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) say what merging alone cannot. Returns a new object; throws
 * the 400 or the 500 the real server answers to a patch that makes no sense.
 */
export function applyStrategicMergePatch<T extends object>(document: T, patch: object, schema: Schema): T {
  return mergeMap(document as unknown as JsonObject, patch as unknown as JsonObject, schema) as unknown as T;
}

function isMap(value: Json | undefined): value is JsonObject {
  return isJsonObject(value);
}

function kindOf(value: Json): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

function unknownPatchType(type: Json, map: JsonObject): ApiError {
  const shown = typeof type === 'string' ? type : `%!s(${typeof type}=${goValue(type)})`;
  return plainInternalError(`unknown patch type: ${shown} in map: ${goValue(map)}`);
}

function noMergeKey(map: JsonObject, key: string): ApiError {
  return plainInternalError(`map: ${goValue(map)} does not contain declared merge key: ${key}`);
}

function childSchema(schema: Schema | undefined, key: string): Schema | undefined {
  const named = schema?.properties?.[key];
  if (named) return named;
  const values = schema?.additionalProperties;
  return typeof values === 'object' ? values : undefined;
}

function strategyOf(schema: Schema | undefined): string {
  return (schema?.patchStrategy ?? '')
    .split(',')
    .filter((strategy) => strategy !== 'retainKeys')
    .join(',');
}

function mergeMap(original: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = getOwn(patch, patchDirective);
  if (directive !== undefined) {
    if (directive === 'delete') return {};
    if (directive !== 'replace') throw unknownPatchType(directive, patch);
    const { [patchDirective]: _, ...replacement } = patch;
    return replacement;
  }
  const result = retainKeys(original, patch);
  const done = new Set<string>([retainKeysDirective]);
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(orderPrefix)) continue;
    done.add(key);
    const list = key.slice(orderPrefix.length);
    const ordered = mergeInOrder(result, patch, list, patch[key] as Json, childSchema(schema, list));
    if (ordered === undefined) continue;
    setOwn(result, list, ordered);
    done.add(list);
  }
  for (const key of Object.keys(patch)) {
    if (done.has(key)) continue;
    const value = patch[key] as Json;
    if (key.startsWith('$deleteFromPrimitiveList')) {
      if (!key.startsWith(deletePrefix)) throw badRequest('invalid patch format of primitive list');
      removePrimitives(result, key.slice(deletePrefix.length), value);
      continue;
    }
    mergeField(result, key, value, childSchema(schema, key));
  }
  return result;
}

function mergeField(result: JsonObject, key: string, value: Json, schema: Schema | undefined): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const current = getOwn(result, key);
  if (current === undefined || current === null || kindOf(current) !== kindOf(value)) {
    const kept = withoutDirectives(withoutNulls(value));
    if (kept === undefined) delete result[key];
    else setOwn(result, key, kept);
  } else if (isMap(current) && isMap(value)) {
    setOwn(result, key, strategyOf(schema) === 'replace' ? value : mergeMap(current, value, schema));
  } else if (Array.isArray(current) && Array.isArray(value)) {
    setOwn(result, key, strategyOf(schema) === 'merge' ? mergeList(current, value, schema) : value);
  } else setOwn(result, key, value);
}

/** Keeps only the fields `$retainKeys` names. */
function retainKeys(original: JsonObject, patch: JsonObject): JsonObject {
  const retained = getOwn(patch, retainKeysDirective);
  if (retained === undefined) return { ...original };
  const broken = badRequest('invalid patch format of retainKeys');
  if (!Array.isArray(retained)) throw broken;
  const names = new Set(retained);
  for (const [key, value] of Object.entries(patch)) {
    const special = key === retainKeysDirective || key.startsWith(orderPrefix) || key.startsWith(deletePrefix);
    if (value !== null && !special && !names.has(key)) throw broken;
  }
  return Object.fromEntries(Object.entries(original).filter(([key]) => names.has(key)));
}

function removePrimitives(result: JsonObject, key: string, values: Json): void {
  const current = getOwn(result, key);
  if (!Array.isArray(current)) return;
  if (!Array.isArray(values)) throw badRequest('invalid patch format of primitive list');
  const gone = new Set(values);
  setOwn(
    result,
    key,
    current.filter((item) => !gone.has(item)),
  );
}

/** What makes two elements the same: the merge key of maps, the value itself of everything else. */
function identity(item: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) return item;
  if (!isMap(item)) throw plainInternalError(`expected a map[string]interface {}, but received a ${kindOf(item)}`);
  const value = getOwn(item, mergeKey);
  if (value === undefined) throw noMergeKey(item, mergeKey);
  return value;
}

function mergeKeyOf(items: readonly Json[], schema: Schema | undefined): string | undefined {
  const kinds = new Set(items.map((item) => (isMap(item) ? 'map' : Array.isArray(item) ? 'list' : 'scalar')));
  if (kinds.size > 1) throw plainInternalError('list element types are not identical');
  if (kinds.has('list')) throw patchRejected();
  if (!kinds.has('map')) return undefined;
  const key = schema?.patchMergeKey;
  if (key === undefined) throw plainInternalError('cannot merge lists without merge key');
  return key;
}

function mergeList(original: readonly Json[], patch: readonly Json[], schema: Schema | undefined): Json[] {
  if (original.length + patch.length === 0) return [];
  const mergeKey = mergeKeyOf([...original, ...patch], schema);
  if (mergeKey === undefined) {
    const merged = [...new Set([...original, ...patch])];
    return inOrder(merged, patch, original, mergeKey);
  }
  const { base, additions } = obeyElementDirectives(original, patch as JsonObject[], mergeKey);
  const merged = [...base];
  const places = new Map<string, number>();
  // Of several with one key the first is merged with.
  for (const [index, item] of merged.entries()) {
    const key = nameOf(item, mergeKey);
    if (key !== undefined && !places.has(key)) places.set(key, index);
  }
  for (const item of additions) {
    const key = JSON.stringify(identity(item, mergeKey));
    const at = places.get(key);
    if (at === undefined) places.set(key, merged.push(withoutNulls(item)) - 1);
    else merged[at] = mergeMap(merged[at] as JsonObject, item, schema?.items);
  }
  return inOrder(merged, additions, base, mergeKey);
}

/** The merge key of an element as a text; undefined when it has none. */
function nameOf(item: Json, mergeKey: string): string | undefined {
  const key = isMap(item) ? getOwn(item, mergeKey) : undefined;
  return key === undefined ? undefined : JSON.stringify(key);
}

/** Obeys `$patch` in list elements: `delete` removes the matching ones, `replace` drops the old list. */
function obeyElementDirectives(
  original: readonly Json[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { base: Json[]; additions: JsonObject[] } {
  const deleted = new Set<string>();
  const additions: JsonObject[] = [];
  let replace = false;
  for (const item of patch) {
    const directive = getOwn(item, patchDirective);
    if (directive === undefined) additions.push(item);
    else if (directive === 'delete') {
      deleted.add(JSON.stringify(identity(item, mergeKey)));
    } else if (directive === 'replace') replace = true;
    else if (directive === 'merge') throw plainInternalError('merging lists cannot yet be specified in the patch');
    else throw unknownPatchType(directive, item);
  }
  if (replace) return { base: additions, additions: [] };
  const base = original.filter((item) => {
    const key = nameOf(item, mergeKey);
    return key === undefined || !deleted.has(key);
  });
  return { base, additions };
}

/**
 * Elements named in the patch stand in its order, the others in the server's. The two rows are merged by the server's order
 * where it knows both; a new element goes before the server's remaining ones.
 */
function inOrder(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  serverOrder: readonly Json[],
  mergeKey: string | undefined,
): Json[] {
  const keyOf = (item: Json): string => JSON.stringify(identity(item, mergeKey));
  const inPatch = new Map(patchOrder.map((item, index) => [keyOf(item), index]));
  const onServer = new Map(serverOrder.map((item, index) => [keyOf(item), index]));
  const position = (order: Map<string, number>, item: Json): number => order.get(keyOf(item)) ?? -1;
  const ordered = merged
    .filter((item) => inPatch.has(keyOf(item)))
    .toSorted((a, b) => position(inPatch, a) - position(inPatch, b));
  const others = merged
    .filter((item) => !inPatch.has(keyOf(item)))
    .toSorted((a, b) => position(onServer, a) - position(onServer, b));
  const result: Json[] = [];
  let next = 0;
  for (const item of ordered) {
    const here = position(onServer, item);
    while (next < others.length && here >= 0) {
      const there = position(onServer, others[next] as Json);
      if (there < 0 || there >= here) break;
      result.push(others[next] as Json);
      next += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/** Merges a list and puts it into the order `$setElementOrder/…` gives. Undefined when there is no such list at all. */
function mergeInOrder(
  result: JsonObject,
  patch: JsonObject,
  key: string,
  order: Json,
  schema: Schema | undefined,
): Json[] | undefined {
  if (!Array.isArray(order)) {
    throw plainInternalError(`expected a []interface {}, but received a ${kindOf(order)}`);
  }
  const original = listField(result, key);
  const changes = listField(patch, key);
  if (!original && !changes) return undefined;
  const mergeKey = mergeKeyOf([...(original ?? []), ...(changes ?? [])], schema);
  checkOrder(changes ?? [], order, mergeKey);
  let merged: Json[];
  if (original && changes)
    merged = strategyOf(schema) === 'merge' ? mergeList(original, changes, schema) : [...changes];
  else merged = original ?? (withoutDirectives(changes ?? []) as Json[]);
  return inOrder(merged, order, original ?? [], mergeKey);
}

function listField(object: JsonObject, key: string): Json[] | undefined {
  const value = getOwn(object, key);
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) {
    throw plainInternalError(`expected a []interface {}, but received a ${kindOf(value)}`);
  }
  return value;
}

/** The elements of a patch must stand in the order the patch itself asks for. */
function checkOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  if (order.length === 0 || patch.length === 0) return;
  const plain = patch.filter((item) => !(isMap(item) && Object.hasOwn(item, patchDirective)));
  let at = 0;
  for (const item of order) {
    const wanted = plain[at];
    if (wanted === undefined) break;
    if (equalJson(identity(wanted, mergeKey), identity(item, mergeKey))) at += 1;
  }
  if (at < plain.length) {
    throw plainInternalError(
      `The order in patch list:\n${goValue([...patch])}\n doesn't match $setElementOrder list:\n${goValue([...order])}\n`,
    );
  }
}

/** New content has nothing for directives to act on: what carries one vanishes. Undefined when the value itself does. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    return value.map(withoutDirectives).filter((item): item is Json => item !== undefined);
  }
  if (!isMap(value)) return value;
  if (Object.hasOwn(value, patchDirective)) return undefined;
  const entries: [string, Json][] = [];
  for (const [key, child] of Object.entries(value)) {
    const kept = withoutDirectives(child);
    if (kept !== undefined) entries.push([key, kept]);
  }
  return Object.fromEntries(entries);
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, child]) => child !== null)
      .map(([key, child]) => [key, withoutNulls(child)]),
  );
}
