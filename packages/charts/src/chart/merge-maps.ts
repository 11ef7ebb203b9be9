import { isMap, type GoMap } from '../go/values.ts';

/** Lays one set of values over another: tables merge, everything else is replaced, null included. Changes neither. */
export function mergeMaps(base: GoMap, over: GoMap): GoMap {
  const merged: GoMap = new Map(base);
  for (const [key, value] of over) {
    const present = merged.get(key);
    merged.set(key, isMap(value) && isMap(present) ? mergeMaps(present, value) : value);
  }
  return merged;
}
