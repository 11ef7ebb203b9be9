import { cloneJson } from '../clone-json.ts';
import { asObject } from '../kinds/json-access.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';

/**
 * Fills in the defaults of a CRD's schema, in place. A `null` that the schema does not allow gives way to the default, or to nothing
 * when there is none.
 */
export function applySchemaDefaults(object: ApiObject, schema: Schema): void {
  dropNulls(object as unknown as Json, schema, true);
  fill(object as unknown as Json, schema);
}

function isUnwantedNull(value: Json | undefined, schema: Schema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

function memberSchema(schema: Schema, name: string): Schema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function dropNulls(value: Json, schema: Schema, isRoot = false): void {
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) dropNulls(item, schema.items);
    return;
  }
  const object = asObject(value);
  if (!object) return;
  for (const [name, member] of Object.entries(object)) {
    if (isRoot && name === 'metadata') continue;
    const declared = memberSchema(schema, name);
    if (!declared) continue;
    const isProperty = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
    if (isProperty && isUnwantedNull(member, declared) && declared.default === undefined) delete object[name];
    else dropNulls(member, declared);
  }
}

interface Defaults {
  readonly own: readonly (readonly [name: string, value: Json])[];
  /** There is a default here or below, so the values are worth a look. */
  readonly any: boolean;
}

const known = new WeakMap<Schema, Defaults>();

function defaultsOf(schema: Schema): Defaults {
  const found = known.get(schema);
  if (found) return found;
  const properties = Object.entries(schema.properties ?? {});
  const own = properties.flatMap(([name, { default: value }]) => (value == null ? [] : [[name, value] as const]));
  const below = [
    ...properties.map(([, property]) => property),
    ...(schema.items ? [schema.items] : []),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
  ];
  const made: Defaults = {
    own,
    any: own.length > 0 || below.some((nested) => nested.default !== undefined || defaultsOf(nested).any),
  };
  known.set(schema, made);
  return made;
}

function fill(value: Json, schema: Schema): void {
  const defaults = defaultsOf(schema);
  if (!defaults.any) return;
  if (Array.isArray(value)) {
    const items = schema.items;
    if (!items) return;
    for (const [index, item] of value.entries()) {
      if (isUnwantedNull(item, items) && items.default !== undefined) value[index] = cloneJson(items.default);
      fill(value[index]!, items);
    }
    return;
  }
  const object: JsonObject | undefined = asObject(value);
  if (!object) return;
  for (const [name, fallback] of defaults.own) {
    if (object[name] === undefined || isUnwantedNull(object[name], schema.properties![name])) {
      object[name] = cloneJson(fallback);
    }
  }
  for (const [name, member] of Object.entries(object)) {
    const declared = memberSchema(schema, name);
    if (!declared) continue;
    if (isUnwantedNull(member, declared) && declared.default !== undefined) object[name] = cloneJson(declared.default);
    fill(object[name]!, declared);
  }
}
