import { equalJson } from '../equal-json.ts';
import type { FieldError } from '../api-error.ts';
import { compilePattern } from '../cel/late-cel.ts';
import { forbiddenField, invalidValue, required } from '../kinds/field-errors.ts';
import { asObject, asObjects, asText } from '../kinds/json-access.ts';
import type { JsonObject } from '../object.ts';

type Level = 'root' | 'item' | 'field';

const emptyTypeTexts: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

const intOrStringAnyOf = [{ type: 'integer' }, { type: 'string' }];

/** Whether a CRD schema says the type of everything it mentions, and nothing it must not say. Sorted by text. */
export function structuralErrors(schema: JsonObject, path: string): FieldError[] {
  const errors = [...nodeErrors(schema, 'root', path), ...completeness(schema, path)];
  const key = (error: FieldError): string => `${error.field}: ${error.detail}`;
  return errors.toSorted((left, right) => (key(left) < key(right) ? -1 : key(left) > key(right) ? 1 : 0));
}

function nodeErrors(schema: JsonObject, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = asText(schema['type']);
  const items = asObject(schema['items']);
  const properties = asObject(schema['properties']) ?? {};
  const additional = asObject(schema['additionalProperties']);
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const intOrString = schema['x-kubernetes-int-or-string'] === true;
  if (type === 'array' && !items) errors.push(required(`${path}.items`, 'must be specified'));
  if (items) errors.push(...nodeErrors(items, 'item', `${path}.items`));
  for (const [name, property] of Object.entries(properties)) {
    errors.push(...nodeErrors(asObject(property) ?? {}, 'field', `${path}.properties[${name}]`));
  }
  if (schema['additionalProperties'] !== undefined && level === 'root') {
    errors.push(forbiddenField(`${path}.additionalProperties`, 'must not be used at the root'));
  }
  if (additional) errors.push(...nodeErrors(additional, 'field', `${path}.additionalProperties`));
  for (const [extension, set] of [
    ['x-kubernetes-preserve-unknown-fields', preserves],
    ['x-kubernetes-embedded-resource', embedded],
  ] as const) {
    if (intOrString && set) {
      errors.push(invalidValue(`${path}.${extension}`, true, 'must be false if x-kubernetes-int-or-string is true'));
    }
  }
  errors.push(...valueErrors(schema, path));
  if (embedded && type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type ? invalidValue(`${path}.type`, type, text) : required(`${path}.type`, text));
  } else if (!type && !intOrString && !preserves) errors.push(required(`${path}.type`, emptyTypeTexts[level]));
  if (level === 'root' && type && type !== 'object') {
    errors.push(invalidValue(`${path}.type`, type, 'must be object at the root'));
  }
  if (level === 'root' || embedded) {
    for (const name of ['kind', 'apiVersion']) {
      const property = asObject(properties[name]);
      if (property && property['type'] !== 'string') {
        errors.push(invalidValue(`${path}.properties[${name}].type`, asText(property['type']), 'must be string'));
      }
    }
    const metadata = asObject(properties['metadata']);
    if (metadata) errors.push(...metadataErrors(metadata, level, `${path}.properties[metadata]`));
  }
  if (embedded && !preserves && Object.keys(properties).length === 0) {
    errors.push(
      required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
  }
  return errors;
}

function metadataErrors(metadata: JsonObject, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (metadata['type'] !== 'object')
    errors.push(invalidValue(`${path}.type`, asText(metadata['type']), 'must be object'));
  if (level !== 'root') return errors;
  const names = Object.keys(asObject(metadata['properties']) ?? {});
  const others = Object.keys(metadata).filter((key) => !['type', 'properties', 'description', 'default'].includes(key));
  if (others.length > 0 || names.some((name) => name !== 'name' && name !== 'generateName')) {
    errors.push(
      forbiddenField(
        path,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
  }
  return errors;
}

/** What stands inside allOf, anyOf, oneOf and not may only restrict values. */
function valueErrors(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  for (const keyword of ['anyOf', 'allOf', 'oneOf'] as const) {
    if (keyword === 'anyOf' && isIntOrString && equalJson(schema['anyOf'], intOrStringAnyOf)) continue;
    for (const [index, nested] of asObjects(schema[keyword]).entries()) {
      if (keyword === 'allOf' && isIntOrString && index === 0 && equalJson(nested['anyOf'], intOrStringAnyOf)) continue;
      errors.push(...nestedErrors(nested, `${path}.${keyword}[${index}]`));
    }
  }
  const not = asObject(schema['not']);
  if (not) errors.push(...nestedErrors(not, `${path}.not`));
  const pattern = asText(schema['pattern']);
  if (pattern) {
    try {
      compilePattern(pattern);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      errors.push(invalidValue(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`));
    }
  }
  return errors;
}

const forbiddenInside: Readonly<Record<string, string>> = {
  type: 'must be empty to be structural',
  additionalProperties: 'must be undefined to be structural',
  default: 'must be undefined to be structural',
  title: 'must be empty to be structural',
  description: 'must be empty to be structural',
  nullable: 'must be false to be structural',
  'x-kubernetes-preserve-unknown-fields': 'must be false to be structural',
  'x-kubernetes-embedded-resource': 'must be false to be structural',
  'x-kubernetes-int-or-string': 'must be false to be structural',
  'x-kubernetes-list-map-keys': 'must be empty to be structural',
  'x-kubernetes-list-type': 'must be undefined to be structural',
  'x-kubernetes-map-type': 'must be undefined to be structural',
  'x-kubernetes-validations': 'must be empty to be structural',
};

function nestedErrors(schema: JsonObject, path: string): FieldError[] {
  const errors = valueErrors(schema, path);
  const items = asObject(schema['items']);
  if (items) errors.push(...nestedErrors(items, `${path}.items`));
  for (const [name, property] of Object.entries(asObject(schema['properties']) ?? {})) {
    errors.push(...nestedErrors(asObject(property) ?? {}, `${path}.properties[${name}]`));
    if (name === 'metadata') {
      errors.push(forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
    }
  }
  for (const [keyword, text] of Object.entries(forbiddenInside)) {
    const value = schema[keyword];
    if (value === undefined || value === false || value === '' || value === null) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    errors.push(forbiddenField(`${path}.${keyword}`, text));
  }
  return errors;
}

/** Everything mentioned inside a combination must also be specified outside of it. */
function completeness(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const compare = (nested: JsonObject, whole: JsonObject | undefined, at: string): void => {
    if (!whole) {
      errors.push(required(at, 'because it is defined elsewhere'));
      return;
    }
    const items = asObject(nested['items']);
    if (items) compare(items, asObject(whole['items']), `${at}.items`);
    for (const [name, property] of Object.entries(asObject(nested['properties']) ?? {})) {
      const found = asObject(asObject(whole['properties'])?.[name]) ?? asObject(whole['additionalProperties']);
      compare(asObject(property) ?? {}, found, `${at}.properties[${name}]`);
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf'])
      for (const part of asObjects(nested[keyword])) compare(part, whole, at);
    const not = asObject(nested['not']);
    if (not) compare(not, whole, at);
  };
  for (const keyword of ['allOf', 'anyOf', 'oneOf'])
    for (const part of asObjects(schema[keyword])) compare(part, schema, path);
  const not = asObject(schema['not']);
  if (not) compare(not, schema, path);
  const items = asObject(schema['items']);
  if (items) errors.push(...completeness(items, `${path}.items`));
  for (const [name, property] of Object.entries(asObject(schema['properties']) ?? {})) {
    errors.push(...completeness(asObject(property) ?? {}, `${path}.properties[${name}]`));
  }
  const additional = asObject(schema['additionalProperties']);
  if (additional) errors.push(...completeness(additional, `${path}.additionalProperties`));
  const seen = new Set<string>();
  return errors.filter((error) => !seen.has(error.field) && seen.add(error.field));
}
