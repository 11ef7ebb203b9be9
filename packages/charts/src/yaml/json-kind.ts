import { isMap, type Value } from '../go/values.ts';

/** What Go's decoder of JSON calls a value that it does not want. */
export function jsonKind(value: Value): string {
  if (Array.isArray(value)) return 'array';
  if (isMap(value)) return 'object';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'bool' : 'number';
}
