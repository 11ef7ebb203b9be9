import { isJsonObject } from '../big-integer.ts';
import type { Json, JsonObject } from '../object.ts';
import { getOwn, setOwn } from '../own-property.ts';

/** Applies an RFC 7386 merge patch: null removes, maps merge, everything else replaces. Returns a new object. */
export function applyMergePatch<T extends object>(document: T, patch: object): T {
  return merge(document as unknown as JsonObject, patch as unknown as JsonObject) as unknown as T;
}

function merge(document: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...document };
  for (const key of Object.keys(patch)) {
    const value = patch[key] as Json;
    if (value === null) {
      delete result[key];
      continue;
    }
    const current = getOwn(document, key);
    setOwn(result, key, isObject(current) && isObject(value) ? merge(current, value) : withoutNulls(value));
  }
  return inOrder(result);
}

/** Go prints maps sorted, and errors show the merged document. */
function inOrder(object: JsonObject): JsonObject {
  const sorted: JsonObject = {};
  for (const key of Object.keys(object).toSorted()) setOwn(sorted, key, object[key] as Json);
  return sorted;
}

function isObject(value: Json | undefined): value is JsonObject {
  return isJsonObject(value);
}

/** What is new has nothing to remove: nulls in it only vanish, except as list elements. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, child]) => child !== null)
      .map(([key, child]) => [key, withoutNulls(child)]),
  );
}
