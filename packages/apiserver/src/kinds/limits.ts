import type { FieldError } from '../api-error.ts';
import type { JsonObject } from '../object.ts';
import { immutableText, invalidValue } from './field-errors.ts';
import { asNumber, sameValue } from './json-access.ts';
import { percentage } from './names.ts';

/** Numbers that may be absent but not below zero. */
export function nonNegative(parent: JsonObject, field: string, keys: readonly string[]): FieldError[] {
  return keys.flatMap((key) => {
    const value = asNumber(parent[key]);
    return value !== undefined && value < 0
      ? [invalidValue(`${field}.${key}`, value, 'must be greater than or equal to 0')]
      : [];
  });
}

/** A count or a percentage, such as `maxSurge`. */
export function intOrPercent(value: unknown, field: string): FieldError[] {
  if (typeof value === 'string') return percentage(value).map((text) => invalidValue(field, value, text));
  const number = asNumber(value);
  return number !== undefined && number < 0 ? [invalidValue(field, number, 'must be greater than or equal to 0')] : [];
}

/** Fields that never change after creation. */
export function immutable(
  next: JsonObject,
  previous: JsonObject,
  field: string,
  keys: readonly string[],
): FieldError[] {
  return keys.flatMap((key) =>
    sameValue(next[key], previous[key])
      ? []
      : [invalidValue(field ? `${field}.${key}` : key, next[key] ?? null, immutableText)],
  );
}
