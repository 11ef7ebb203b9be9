import type { Json, JsonObject } from './object.ts';

/** Reads a field named by a client: never what objects inherit (`__proto__`, `constructor`). */
export function getOwn(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Writes a field named by a client. Plain assignment to `__proto__` would change the prototype instead. */
export function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
  } else object[key] = value;
}
