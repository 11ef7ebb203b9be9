import { isBigInteger, isJsonObject, numberOf } from '../big-integer.ts';
import type { Json, JsonObject } from '../object.ts';
import { canonicalQuantity } from '../quantity.ts';
import { canonicalTime } from './go-time.ts';
import { specialType } from './go-types.ts';
import type { Schema } from './schema.ts';

/**
 * The form in which Go prints a built-in object after reading it: fields in the order of the struct, zero values that are
 * always printed added, nulls and empty optional values gone, quantities and times canonical. Unknown fields must be pruned
 * and types checked before. Returns a new object.
 */
export function addZeroValues<T extends object>(object: T, schema: Schema): T {
  return struct(object as unknown as JsonObject, schema) as unknown as T;
}

/** An empty struct as Go prints it: what a built-in object is before its first field is set. */
export function zeroObject(schema: Schema): JsonObject {
  return struct({}, schema);
}

function struct(value: JsonObject, schema: Schema): JsonObject {
  const result: JsonObject = {};
  const { properties } = schema;
  if (!properties) return value;
  for (const key in properties) {
    const child = properties[key] as Schema;
    const given = value[key];
    if (given === undefined || given === null) {
      if (child.zero !== undefined) result[key] = zeroOf(child);
      continue;
    }
    const printed = print(given, child);
    if (child.zero === undefined && !child.pointer && isEmpty(printed, child)) continue;
    result[key] = printed;
  }
  return result;
}

function zeroOf(schema: Schema): Json {
  if (schema.zero === null || typeof schema.zero !== 'object') return schema.zero ?? null;
  return struct({}, schema);
}

function print(value: Json, schema: Schema): Json {
  const special = specialType(schema);
  if (special !== undefined) {
    if (special === 'quantity') return canonicalQuantity(textOf(value).trim());
    if (special === 'duration') return value;
    return canonicalTime(String(value), special);
  }
  // Go keeps these as doubles.
  if (schema.type === 'number') return numberOf(value) ?? value;
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((item) => element(item, items)) : value;
  }
  if (isJsonObject(value)) {
    if (schema.properties) return struct(value, schema);
    const values = schema.additionalProperties;
    if (typeof values !== 'object') return value;
    const result: [string, Json][] = [];
    // Go prints maps sorted by key.
    for (const key of Object.keys(value).toSorted()) result.push([key, element(value[key] as Json, values)]);
    return Object.fromEntries(result);
  }
  return value;
}

/** A number or a text, as it was written. */
function textOf(value: Json): string {
  return isBigInteger(value) ? value.rawJSON : String(value);
}

/** A null among the elements of a list or map is the zero value of the element. */
function element(value: Json, schema: Schema): Json {
  if (value !== null) return print(value, schema);
  if (schema.properties) return struct({}, schema);
  if (specialType(schema) === 'quantity') return '0';
  if (schema.type === 'string') return '';
  if (schema.type === 'integer' || schema.type === 'number') return 0;
  if (schema.type === 'boolean') return false;
  return null;
}

/** Whether Go leaves the value out of a field marked `omitempty`. */
function isEmpty(value: Json, schema: Schema): boolean {
  if (value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) {
    return typeof schema.additionalProperties === 'object' && Object.keys(value).length === 0;
  }
  return false;
}
