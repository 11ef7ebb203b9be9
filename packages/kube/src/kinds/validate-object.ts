import { jsonEqual } from '../equality.ts';
import { integerFrom, isLargeInteger, isRecord, toBigInt } from '../json.ts';
import type { JsonSchemaProps } from './cluster-types.ts';
import { schemaOf } from './custom-resource-definition.ts';
import type { DefinedKind } from './define-kind.ts';

/** One thing that is wrong with an object. */
export interface FieldProblem {
  /** Where, such as `spec.containers[0].image`. */
  readonly field: string;
  /** What, in the words the API server would use. */
  readonly message: string;
}

/**
 * What is wrong with an object, as far as its schema can tell without a server: types, required fields, limits, patterns,
 * enumerations, lists with keys, and fields the schema does not know. CEL rules are left to the server. Fill in defaults
 * first (`applyDefaults`), as the server does.
 */
export function validateObject(kind: DefinedKind, object: unknown): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!isRecord(object)) return [{ field: '', message: 'must be an object' }];
  if (object['apiVersion'] !== kind.apiVersion)
    problems.push({ field: 'apiVersion', message: `must be ${kind.apiVersion}` });
  if (object['kind'] !== kind.kind) problems.push({ field: 'kind', message: `must be ${kind.kind}` });
  const { metadata } = object;
  if (!isRecord(metadata)) problems.push({ field: 'metadata', message: 'Required value' });
  else if (!metadata['name'] && !metadata['generateName'])
    problems.push({ field: 'metadata.name', message: 'Required value: name or generateName is required' });
  const { apiVersion: _a, kind: _k, metadata: _m, ...rest } = object;
  const schema = schemaOf(kind);
  check(rest, schema, '', problems);
  return problems;
}

/** Problems in one sentence: `spec.image: Required value; spec.replicas: …`. */
export function problemText(problems: readonly FieldProblem[]): string {
  return problems.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ');
}

/** Checks a value against a structural schema. */
export function validateValue(value: unknown, schema: JsonSchemaProps, field = ''): FieldProblem[] {
  const problems: FieldProblem[] = [];
  check(value, schema, field, problems);
  return problems;
}

function check(value: unknown, schema: JsonSchemaProps, field: string, problems: FieldProblem[]): void {
  const report = (message: string) => problems.push({ field, message });
  const show = shownWith(schema);
  if (value === null) {
    if (!schema.nullable && (schema.type !== undefined || schema['x-kubernetes-int-or-string']))
      report(`Invalid value: null: must be of type ${schema.type ?? 'integer or string'}`);
    return;
  }
  if (!hasType(value, schema)) {
    report(`Invalid value: ${show(value)}: must be of type ${schema.type ?? 'integer or string'}`);
    return;
  }
  if (schema.enum && !schema.enum.some((allowed) => jsonEqual(allowed, value)))
    report(`Unsupported value: ${show(value)}: supported values: ${schema.enum.map(show).join(', ')}`);
  if (typeof value === 'number') checkNumber(value, schema, report);
  else if (isLargeInteger(value)) checkLargeInteger(toBigInt(value), schema, report);
  else if (typeof value === 'string') checkString(value, schema, report);
  else if (Array.isArray(value)) checkList(value, schema, field, problems, report);
  else if (isRecord(value)) checkFields(value, schema, field, problems, report);
  checkCombinations(value, schema, field, problems);
}

function hasType(value: unknown, schema: JsonSchemaProps): boolean {
  if (schema['x-kubernetes-int-or-string']) return isInteger(value) || typeof value === 'string';
  switch (schema.type) {
    case undefined:
      return true;
    case 'integer':
      return isInteger(value);
    case 'number':
      return typeof value === 'number' || isLargeInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    default:
      return typeof value === schema.type;
  }
}

function checkNumber(value: number, schema: JsonSchemaProps, report: (message: string) => void): void {
  const { minimum, maximum, multipleOf } = schema;
  const show = shownWith(schema);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum))
    report(
      `Invalid value: ${show(value)}: should be greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${minimum}`,
    );
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum))
    report(
      `Invalid value: ${show(value)}: should be less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${maximum}`,
    );
  if (multipleOf !== undefined && value % multipleOf !== 0)
    report(`Invalid value: ${show(value)}: should be a multiple of ${multipleOf}`);
}

/** No JavaScript number is as large: limits that are numbers need no exact comparison, only `int64` has its own. */
function checkLargeInteger(value: bigint, schema: JsonSchemaProps, report: (message: string) => void): void {
  if (BigInt.asIntN(64, value) !== value)
    report(`Invalid value: ${shownWith(schema)(integerFrom(value))}: does not fit into 64 bits`);
  else checkNumber(Number(value), schema, report);
}

function isInteger(value: unknown): boolean {
  return Number.isInteger(value) || isLargeInteger(value);
}

function checkString(value: string, schema: JsonSchemaProps, report: (message: string) => void): void {
  const { length } = Array.from(value);
  const { minLength, maxLength, pattern, format } = schema;
  const show = shownWith(schema);
  if (minLength !== undefined && length < minLength)
    report(`Invalid value: ${show(value)}: should be at least ${minLength} chars long`);
  if (maxLength !== undefined && length > maxLength) report(`Too long: may not be more than ${maxLength} characters`);
  if (pattern !== undefined && compile(pattern)?.test(value) === false)
    report(`Invalid value: ${show(value)}: should match '${pattern}'`);
  if (format === 'date-time' && !isDateTime(value))
    report(`Invalid value: ${show(value)}: should be a date-time such as 2026-01-31T12:00:00Z`);
}

const patterns = new Map<string, RegExp | undefined>();

/** CRD patterns are Go's (RE2). One that JavaScript does not understand is left to the server. */
function compile(pattern: string): RegExp | undefined {
  if (!patterns.has(pattern)) patterns.set(pattern, tryPattern(pattern, 'u') ?? tryPattern(pattern, ''));
  return patterns.get(pattern);
}

function tryPattern(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
}

function isDateTime(value: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

function checkList(
  value: readonly unknown[],
  schema: JsonSchemaProps,
  field: string,
  problems: FieldProblem[],
  report: (message: string) => void,
): void {
  if (schema.minItems !== undefined && value.length < schema.minItems)
    report(`Invalid value: ${value.length}: should have at least ${schema.minItems} items`);
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    report(`Too many: ${value.length}: must have at most ${schema.maxItems} items`);
  if (schema.items)
    for (const [index, item] of value.entries()) check(item, schema.items, `${field}[${index}]`, problems);
  const identity = listIdentity(schema);
  if (!identity) return;
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const text = identity(item);
    if (seen.has(text)) {
      const shown = schema.items?.format === 'password' ? '(not shown)' : text;
      problems.push({ field: `${field}[${index}]`, message: `Duplicate value: ${shown}` });
    }
    seen.add(text);
  }
}

function listIdentity(schema: JsonSchemaProps): ((item: unknown) => string) | undefined {
  if (schema['x-kubernetes-list-type'] === 'set') return (item) => JSON.stringify(item);
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !keys) return undefined;
  return (item) => JSON.stringify(Object.fromEntries(keys.map((key) => [key, isRecord(item) ? item[key] : undefined])));
}

function checkFields(
  value: Readonly<Record<string, unknown>>,
  schema: JsonSchemaProps,
  field: string,
  problems: FieldProblem[],
  report: (message: string) => void,
): void {
  const at = (name: string) => (field === '' ? name : `${field}.${name}`);
  for (const name of schema.required ?? [])
    if (value[name] === undefined) problems.push({ field: at(name), message: 'Required value' });
  const count = Object.keys(value).length;
  if (schema.minProperties !== undefined && count < schema.minProperties)
    report(`Invalid value: ${count}: should have at least ${schema.minProperties} properties`);
  if (schema.maxProperties !== undefined && count > schema.maxProperties)
    report(`Too many: ${count}: must have at most ${schema.maxProperties} properties`);
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const property = schema.properties?.[name];
    if (property) check(item, property, at(name), problems);
    else if (isRecord(schema.additionalProperties))
      check(item, schema.additionalProperties as JsonSchemaProps, at(name), problems);
    else if (!schema['x-kubernetes-preserve-unknown-fields'] && schema.additionalProperties !== true)
      problems.push({ field: at(name), message: 'unknown field' });
  }
}

function checkCombinations(value: unknown, schema: JsonSchemaProps, field: string, problems: FieldProblem[]): void {
  const report = (message: string) => problems.push({ field, message });
  // A part only narrows: which fields exist at all is said outside of it.
  const judge = (part: JsonSchemaProps) =>
    validateValue(value, { ...part, 'x-kubernetes-preserve-unknown-fields': true }, field);
  const holds = (part: JsonSchemaProps) => judge(part).length === 0;
  if (schema.anyOf && !schema['x-kubernetes-int-or-string'] && !schema.anyOf.some(holds)) {
    report('must match at least one of its alternatives (anyOf)');
    // What is missing to the alternative that comes closest is the most helpful thing to say.
    const [closest = []] = schema.anyOf.map(judge).toSorted((a, b) => a.length - b.length);
    problems.push(...closest);
  }
  if (schema.oneOf && schema.oneOf.filter(holds).length !== 1)
    report('must match exactly one of its alternatives (oneOf)');
  if (schema.allOf && !schema.allOf.every(holds)) report('must match all of its parts (allOf)');
  if (schema.not && holds(schema.not)) report('must not match its exclusion (not)');
}

/** How a value of this field is quoted: a password never is. */
function shownWith({ format }: JsonSchemaProps): (value: unknown) => string {
  return format === 'password' ? () => '(not shown)' : show;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
