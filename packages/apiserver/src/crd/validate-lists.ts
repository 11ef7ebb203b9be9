import type { FieldError } from '../api-error.ts';
import { duplicate, invalidValue } from '../kinds/field-errors.ts';
import { asObject } from '../kinds/json-access.ts';
import type { Json } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { canonical } from './correlation.ts';

/** Finds what occurs twice in lists that are declared to be sets or maps. */
export function listErrors(value: unknown, schema: Schema, path = ''): FieldError[] {
  if (Array.isArray(value)) {
    const list = value as Json[];
    const errors =
      schema.listType === 'set'
        ? repeated(list, path)
        : schema.listType === 'map'
          ? repeatedKeys(list, schema.listMapKeys ?? [], path)
          : [];
    const { items } = schema;
    if (!items) return errors;
    return [...errors, ...list.flatMap((item, index) => listErrors(item, items, `${path}[${index}]`))];
  }
  const object = asObject(value);
  if (!object) return [];
  return Object.entries(object).flatMap(([name, member]) => {
    if (schema.properties && Object.hasOwn(schema.properties, name)) {
      return listErrors(member, schema.properties[name]!, path ? `${path}.${name}` : name);
    }
    return typeof schema.additionalProperties === 'object'
      ? listErrors(member, schema.additionalProperties, `${path}[${name}]`)
      : [];
  });
}

function repeated(list: readonly Json[], path: string): FieldError[] {
  const seen = new Map<string, number>();
  return list.flatMap((item, index) => {
    const text = canonical(item);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    return times === 1 ? [duplicate(`${path}[${index}]`, item)] : [];
  });
}

function repeatedKeys(list: readonly Json[], keys: readonly string[], path: string): FieldError[] {
  const stranger = list.findIndex((item) => item !== null && !asObject(item));
  if (stranger >= 0) {
    return [invalidValue(`${path}[${stranger}]`, list[stranger], 'must be an object for an array of list-type map')];
  }
  return repeated(
    list.map((item) => {
      const object = asObject(item) ?? {};
      return Object.fromEntries(keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]!]));
    }),
    path,
  );
}
