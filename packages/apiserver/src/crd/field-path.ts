import type { Json, JsonObject } from '../object.ts';
import { asObject } from '../kinds/json-access.ts';

/** The keys of a simple path such as `.spec.replicas`; the only form scale paths and selectable fields may have. */
export function pathKeys(path: string): string[] {
  return path.replace(/^\./, '').split('.');
}

/** The value at a simple path, or `undefined`. */
export function valueAtPath(object: unknown, path: string): Json | undefined {
  let current: unknown = object;
  for (const key of pathKeys(path)) current = asObject(current)?.[key];
  return current as Json | undefined;
}

/** Sets the value at a simple path, creating the objects on the way. */
export function setValueAtPath(object: JsonObject, path: string, value: Json): void {
  const keys = pathKeys(path);
  let current = object;
  for (const key of keys.slice(0, -1)) {
    const next = asObject(current[key]) ?? {};
    current[key] = next;
    current = next;
  }
  current[keys.at(-1)!] = value;
}
