import type { JsonObject } from '../object.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { asList, asObject, asObjects } from '../kinds/json-access.ts';

const copiedKeywords = [
  'type',
  'format',
  'description',
  'nullable',
  'default',
  'enum',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
] as const;

const renamedKeywords = {
  'x-kubernetes-list-type': 'listType',
  'x-kubernetes-list-map-keys': 'listMapKeys',
  'x-kubernetes-map-type': 'mapType',
  'x-kubernetes-preserve-unknown-fields': 'preserveUnknownFields',
  'x-kubernetes-int-or-string': 'intOrString',
  'x-kubernetes-embedded-resource': 'embeddedResource',
} as const;

/** Turns the `openAPIV3Schema` of a CRD version (or a part of it) into the server's own form. */
export function schemaOfCrd(source: JsonObject): Schema {
  const schema: Record<string, unknown> = {};
  for (const keyword of copiedKeywords) if (source[keyword] !== undefined) schema[keyword] = source[keyword];
  for (const [keyword, name] of Object.entries(renamedKeywords)) {
    if (source[keyword] !== undefined) schema[name] = source[keyword];
  }
  const properties = asObject(source['properties']);
  if (properties) schema['properties'] = schemasByName(properties);
  const additional = source['additionalProperties'];
  if (typeof additional === 'boolean') schema['additionalProperties'] = additional;
  else if (asObject(additional)) schema['additionalProperties'] = schemaOfCrd(asObject(additional)!);
  const items = asObject(source['items']);
  if (items) schema['items'] = schemaOfCrd(items);
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    if (source[keyword] !== undefined) schema[keyword] = asObjects(source[keyword]).map(schemaOfCrd);
  }
  const not = asObject(source['not']);
  if (not) schema['not'] = schemaOfCrd(not);
  const rules = asList(source['x-kubernetes-validations']);
  if (rules.length > 0) schema['validations'] = rules as unknown as ValidationRule[];
  return schema as Schema;
}

function schemasByName(properties: JsonObject): Record<string, Schema> {
  // No prototype, so that a property called `constructor` or `__proto__` is a property like any other.
  const result: Record<string, Schema> = Object.create(null) as Record<string, Schema>;
  for (const [name, property] of Object.entries(properties)) result[name] = schemaOfCrd(asObject(property) ?? {});
  return result;
}
