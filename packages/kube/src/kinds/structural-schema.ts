import { jsonEqual } from '../equality.ts';
import type { JsonSchemaProps } from './cluster-types.ts';

/** A JSON schema as TypeBox writes it. */
interface SourceSchema {
  readonly [keyword: string]: unknown;
}

const copied = [
  'type',
  'format',
  'title',
  'description',
  'default',
  'example',
  'enum',
  'nullable',
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'not',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
] as const;

/** Keywords that have a rule of their own below. */
const translated = new Set([
  'properties',
  'required',
  'items',
  'additionalProperties',
  'patternProperties',
  'anyOf',
  'allOf',
  'oneOf',
  'const',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'additionalItems',
  'uniqueItems',
]);

/** Notes for readers that a CRD has no place for. */
const dropped = new Set(['$id', '$schema', '$comment', 'readOnly', 'writeOnly', 'deprecated', 'examples', '~kind']);

/**
 * The structural OpenAPI v3 schema (the dialect of `apiextensions.k8s.io/v1`) that says what a TypeBox schema says. What the
 * dialect cannot say is an error that names the field; nothing is left out in silence.
 */
export function toStructuralSchema(source: object, path: string): JsonSchemaProps {
  const schema = source as SourceSchema;
  refuseUnknownKeywords(schema, path);
  const result = copyKeywords(schema);
  translateBounds(schema, result);
  if (schema['const'] !== undefined) Object.assign(result, literal([schema['const']], path));
  if (result.enum && !result.type) Object.assign(result, literal(result.enum, path));
  if (Array.isArray(schema['allOf'])) mergeIntersection(schema['allOf'] as SourceSchema[], result, path);
  if (Array.isArray(schema['anyOf'])) translateUnion(schema['anyOf'] as SourceSchema[], result, path);
  if (Array.isArray(schema['oneOf'])) result.oneOf = schema['oneOf'] as JsonSchemaProps[];
  if (result.type === 'null') fail(path, 'is always null; a field needs a type');
  if (Array.isArray(result.type)) fail(path, 'has several types; use Type.Union');
  if (result.type === 'object') translateObject(schema, result, path);
  if (result.type === 'array') translateArray(schema, result, path);
  if (!result.type && !result['x-kubernetes-int-or-string']) result['x-kubernetes-preserve-unknown-fields'] = true;
  return result;
}

function refuseUnknownKeywords(schema: SourceSchema, path: string): void {
  if (schema['$ref'] !== undefined || schema['$defs'] !== undefined)
    fail(path, 'refers to another schema; a CRD cannot, so write it out or accept unknown fields below it');
  for (const keyword of Object.keys(schema))
    if (!(copied as readonly string[]).includes(keyword) && !translated.has(keyword) && !dropped.has(keyword))
      fail(path, `uses "${keyword}", which a CRD cannot express; use a CEL rule (x-kubernetes-validations)`);
}

function copyKeywords(schema: SourceSchema): JsonSchemaProps {
  const result: Record<string, unknown> = {};
  for (const keyword of copied) if (schema[keyword] !== undefined) result[keyword] = schema[keyword];
  return result as JsonSchemaProps;
}

/** JSON schema has a number where OpenAPI v3 has a flag. */
function translateBounds(schema: SourceSchema, result: JsonSchemaProps): void {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof exclusiveMinimum === 'number') {
    result.minimum = exclusiveMinimum;
    result.exclusiveMinimum = true;
  }
  if (typeof exclusiveMaximum === 'number') {
    result.maximum = exclusiveMaximum;
    result.exclusiveMaximum = true;
  }
}

function literal(values: readonly unknown[], path: string): JsonSchemaProps {
  const types = new Set(values.map((value) => (Number.isInteger(value) ? 'integer' : typeof value)));
  if (types.size === 2 && types.has('integer') && types.has('number')) types.delete('integer');
  const [type] = types;
  if (types.size !== 1 || type === undefined || !['string', 'integer', 'number', 'boolean'].includes(type))
    fail(path, 'lists values of different types');
  return { type, enum: [...values] };
}

function translateUnion(members: readonly SourceSchema[], result: JsonSchemaProps, path: string): void {
  const real = members.filter((member) => member['type'] !== 'null');
  if (real.length < members.length) result.nullable = true;
  if (real.length === 0) fail(path, 'is always null; a field needs a type');
  if (real.length === 1) {
    Object.assign(result, { ...toStructuralSchema(real[0]!, path), ...result });
    return;
  }
  if (real.every((member) => member['const'] !== undefined)) {
    Object.assign(
      result,
      literal(
        real.map((member) => member['const']),
        path,
      ),
    );
    return;
  }
  const types = real.map((member) => member['type']);
  if (types.length === 2 && types.includes('string') && (types.includes('integer') || types.includes('number'))) {
    result['x-kubernetes-int-or-string'] = true;
    result.anyOf = [{ type: 'integer' }, { type: 'string' }];
    return;
  }
  if (types.every((type) => type === 'object')) {
    translateVariants(real, result, path);
    return;
  }
  fail(path, `may be ${types.map(String).join(' or ')}; a CRD field has one type (or is integer-or-string)`);
}

/** A choice between objects: all their fields side by side, and a list of which combinations are whole. */
function translateVariants(members: readonly SourceSchema[], result: JsonSchemaProps, path: string): void {
  const variants = members.map((member) => toStructuralSchema(member, path));
  const properties: Record<string, JsonSchemaProps> = {};
  for (const variant of variants) {
    for (const [name, property] of Object.entries(variant.properties ?? {})) {
      const existing = properties[name];
      properties[name] = existing ? mergeAlternatives(existing, property, `${path}.${name}`) : property;
    }
  }
  result.type = 'object';
  result.properties = properties;
  const common = (variants[0]?.required ?? []).filter((name) => variants.every((v) => v.required?.includes(name)));
  if (common.length > 0) result.required = common;
  result.anyOf = variants.map((variant) => {
    const tags: Record<string, JsonSchemaProps> = {};
    for (const [name, property] of Object.entries(variant.properties ?? {}))
      if (property.enum && !jsonEqual(property.enum, properties[name]?.enum)) tags[name] = { enum: property.enum };
    return {
      ...(variant.required ? { required: variant.required } : {}),
      ...(Object.keys(tags).length > 0 ? { properties: tags } : {}),
    };
  });
}

function mergeAlternatives(a: JsonSchemaProps, b: JsonSchemaProps, path: string): JsonSchemaProps {
  if (jsonEqual(a, b)) return a;
  if (a.enum && b.enum && a.type === b.type) return { ...a, enum: [...new Set([...a.enum, ...b.enum])] };
  return fail(path, 'has different schemas in the variants of a union');
}

function mergeIntersection(members: readonly SourceSchema[], result: JsonSchemaProps, path: string): void {
  const parts = members.map((member) => toStructuralSchema(member, path));
  if (parts.some((part) => part.type !== 'object')) fail(path, 'intersects what is not objects');
  result.type = 'object';
  for (const part of parts) {
    for (const [name, property] of Object.entries(part.properties ?? {})) {
      const existing = result.properties?.[name];
      if (existing && !jsonEqual(existing, property))
        fail(`${path}.${name}`, 'has different schemas in an intersection');
      result.properties = { ...result.properties, [name]: property };
    }
    if (part.required) result.required = [...new Set([...(result.required ?? []), ...part.required])];
  }
}

function translateObject(schema: SourceSchema, result: JsonSchemaProps, path: string): void {
  const properties = schema['properties'] as Record<string, SourceSchema> | undefined;
  const fields = Object.entries(properties ?? {});
  if (fields.length > 0)
    result.properties = {
      ...result.properties,
      ...Object.fromEntries(fields.map(([name, field]) => [name, toStructuralSchema(field, `${path}.${name}`)])),
    };
  // The server fills defaults in before it looks for what is missing: such a field need not be written.
  const required = ((schema['required'] as string[] | undefined) ?? []).filter(
    (name) => result.properties?.[name]?.default === undefined,
  );
  if (required.length > 0) result.required = [...new Set([...(result.required ?? []), ...required])];

  const values = mapValues(schema, path);
  if (values === undefined) return;
  if (values === true) result['x-kubernetes-preserve-unknown-fields'] = true;
  else if (result.properties) fail(path, 'has named fields and arbitrary ones; a CRD can have only either');
  else result.additionalProperties = toStructuralSchema(values, `${path}.*`);
}

/** The schema of a map's values, `true` for anything, `undefined` for an object with named fields only. */
function mapValues(schema: SourceSchema, path: string): SourceSchema | true | undefined {
  const patterns = Object.entries((schema['patternProperties'] as Record<string, SourceSchema> | undefined) ?? {});
  if (patterns.length > 1 || (patterns.length === 1 && patterns[0]![0] !== '^.*$'))
    fail(path, 'restricts the keys of a map by a pattern; use a CEL rule (x-kubernetes-validations) instead');
  const additional = patterns[0]?.[1] ?? schema['additionalProperties'];
  if (additional === undefined || additional === false) return undefined;
  if (additional === true || Object.keys(additional as object).length === 0) return true;
  return additional as SourceSchema;
}

function translateArray(schema: SourceSchema, result: JsonSchemaProps, path: string): void {
  const { items } = schema;
  if (Array.isArray(items)) fail(path, 'is a tuple; a CRD list has one schema for all items');
  if (typeof items !== 'object' || items === null) fail(path, 'is a list without a schema for its items');
  if (schema['uniqueItems']) fail(path, 'has uniqueItems; use x-kubernetes-list-type: set instead');
  result.items = toStructuralSchema(items as SourceSchema, `${path}[]`);
  if (result['x-kubernetes-list-type'] !== 'map') return;
  for (const key of result['x-kubernetes-list-map-keys'] ?? []) {
    const known = result.items.properties?.[key];
    if (!known) fail(path, `has list-map key "${key}", which its items do not have`);
    if (!result.items.required?.includes(key) && known.default === undefined)
      fail(`${path}[].${key}`, 'is a list-map key, so it must be required or have a default');
  }
}

function fail(path: string, problem: string): never {
  throw new TypeError(`${path} ${problem}`);
}
