import { isJsonObject } from './big-integer.ts';
import { setOwn } from './own-property.ts';

/** A deep copy of a JSON value; several times as fast as `structuredClone`, and it keeps big integers. */
export function cloneJson<T>(value: T): T {
  return copied(value) as T;
}

function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isJsonObject(value)) return value;
  const result = {};
  for (const key of Object.keys(value)) setOwn(result, key, copied(value[key]) as never);
  return result;
}
