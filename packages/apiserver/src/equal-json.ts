import { isBigInteger } from './big-integer.ts';
import type { JsonObject } from './object.ts';

/** Whether two JSON values are the same; the order of fields does not matter. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => equalJson(item, right[index]));
  }
  if (Array.isArray(right)) return false;
  if (isBigInteger(left) || isBigInteger(right)) {
    return isBigInteger(left) && isBigInteger(right) && left.rawJSON === right.rawJSON;
  }
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every(
    (name) => Object.hasOwn(right, name) && equalJson((left as JsonObject)[name], (right as JsonObject)[name]),
  );
}
