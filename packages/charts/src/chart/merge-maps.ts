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

/** The same in place, for one who lays many over what is its own. `over` becomes part of `base`. */
export function layOver(base: GoMap, over: GoMap): void {
  for (const [key, value] of over) {
    const present = base.get(key);
    if (isMap(value) && isMap(present)) layOver(present, value);
    else base.set(key, value);
  }
}
