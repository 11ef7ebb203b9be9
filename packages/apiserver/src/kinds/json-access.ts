import { equalJson } from '../equal-json.ts';
import { isBigInteger, isJsonObject } from '../big-integer.ts';
import type { Json, JsonObject } from '../object.ts';

/** The value when it is a JSON object, else `undefined`. */
export function asObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The value when it is a list, else an empty one. */
export function asList(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

/** The objects of a list; anything else in it is skipped. */
export function asObjects(value: unknown): JsonObject[] {
  return asList(value).filter((item): item is JsonObject => asObject(item) !== undefined);
}

/** The value when it is a string, else the empty one, which is how Go sees an absent string. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value when it is a number, else `undefined`. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Follows `keys` through objects; `undefined` as soon as one is missing. */
export function dig(value: unknown, ...keys: string[]): unknown {
  let current: unknown = value;
  for (const key of keys) current = asObject(current)?.[key];
  return current;
}

/** The object at `key`, created when it is absent. */
export function ensureObject(parent: JsonObject, key: string): JsonObject {
  const present = asObject(parent[key]);
  if (present) return present;
  const created: JsonObject = {};
  parent[key] = created;
  return created;
}

/** Sets `key` unless it already has a value; an explicit `null` counts as absent. */
export function defaultTo(parent: JsonObject, key: string, value: Json): void {
  if (parent[key] == null) parent[key] = value;
}

/** The same for strings, where Go cannot tell an empty one from an absent one. */
export function defaultText(parent: JsonObject, key: string, value: string): void {
  if (parent[key] == null || parent[key] === '') parent[key] = value;
}

/**
 * Equality of built-in values as Go's semantic equality sees it: absent, null and empty lists are alike. An empty object is
 * not nothing: empty maps are not printed at all, so what is left is a pointer to a struct (`emptyDir: {}`, `podSelector: {}`).
 */
export function sameValue(left: unknown, right: unknown): boolean {
  if (left === right || (isBigInteger(left) && equalJson(left, right))) return true;
  if (isNothing(left) && isNothing(right)) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => sameValue(item, right[index]));
  }
  const leftObject = asObject(left);
  const rightObject = asObject(right);
  if (!leftObject || !rightObject) return false;
  const keys = new Set([...Object.keys(leftObject), ...Object.keys(rightObject)]);
  return [...keys].every((key) => sameValue(leftObject[key], rightObject[key]));
}

function isNothing(value: unknown): boolean {
  if (value == null) return true;
  return Array.isArray(value) && value.length === 0;
}
