import { bigintOf, isBigInteger, numberOf, type BigInteger } from '../big-integer.ts';
import { equalJson } from '../equal-json.ts';
import type { FieldError } from '../api-error.ts';
import { compilePattern } from '../cel/late-cel.ts';
import { invalidValue, notSupported, quote, required, tooLong, tooMany, typeInvalid } from '../kinds/field-errors.ts';
import { asObject } from '../kinds/json-access.ts';
import type { Json } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { canonical, correlation } from './correlation.ts';
import { hasFormat, isKnownFormat } from './formats.ts';

/** Said once when other errors kept the rules from being evaluated. */
export const notCheckedError: FieldError = invalidValue(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

const blocking = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Whether an object with these errors is too broken to evaluate rules on. */
export function blocksRules(errors: readonly FieldError[]): boolean {
  return errors.some((error) => blocking.has(error.reason));
}

/** Marks a place whose old value is unknown, so that nothing is forgiven there. */
const uncorrelated = Symbol('uncorrelated');
type Old = Json | undefined | typeof uncorrelated;

/**
 * Checks an object (or a part of it, at `path`) against its schema. With `previous`, whatever is wrong inside an unchanged part is
 * forgiven, so that a tightened schema does not block unrelated updates.
 */
export function schemaErrors(object: unknown, schema: Schema, previous?: unknown, path = ''): FieldError[] {
  const errors: FieldError[] = [];
  check(object as Json, schema, path, previous === undefined ? uncorrelated : (previous as Json), errors);
  return errors;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isBigInteger(value)) return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function hasType(value: Json, schema: Schema): boolean {
  const actual = typeOf(value);
  if (schema.intOrString) return actual === 'integer' || actual === 'string';
  return schema.type === undefined || schema.type === actual || (schema.type === 'number' && actual === 'integer');
}

function check(value: Json, schema: Schema, path: string, old: Old, errors: FieldError[]): void {
  if (value === null) {
    if ((schema.type !== undefined || schema.intOrString) && !schema.nullable)
      errors.push(wrongType(value, schema, path));
    checkEnum(value, schema, path, errors);
    return;
  }
  if (!hasType(value, schema)) errors.push(wrongType(value, schema, path));
  checkCombinations(value, schema, path, errors);
  if (typeof value === 'string') checkString(value, schema, path, errors);
  else if (typeof value === 'number' || isBigInteger(value)) checkNumber(value, schema, path, errors);
  else if (Array.isArray(value)) checkList(value, schema, path, old, errors);
  checkEnum(value, schema, path, errors);
  const object = asObject(value);
  if (object) checkMembers(object, schema, path, old, errors);
}

function wrongType(value: Json, schema: Schema, path: string): FieldError {
  const wanted = schema.intOrString ? 'integer,string' : schema.type!;
  const actual = typeOf(value);
  return typeInvalid(path || '<nil>', actual, `${path} in body must be of type ${wanted}: ${quote(actual)}`);
}

function checkEnum(value: Json, schema: Schema, path: string, errors: FieldError[]): void {
  if (!schema.enum || schema.enum.some((allowed) => equalJson(allowed, value))) return;
  errors.push(
    notSupported(
      path,
      value,
      schema.enum.map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed))),
    ),
  );
}

function checkString(value: string, schema: Schema, path: string, errors: FieldError[]): void {
  const length = Array.from(value).length;
  if (schema.maxLength !== undefined && length > schema.maxLength) errors.push(tooLong(path, schema.maxLength));
  else if (schema.minLength !== undefined && length < schema.minLength) {
    errors.push(invalidValue(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  } else if (schema.pattern && !compilePattern(schema.pattern).test(value)) {
    errors.push(invalidValue(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  const { format } = schema;
  if (
    format &&
    (schema.type === undefined || schema.type === 'string') &&
    isKnownFormat(format) &&
    !hasFormat(value, format)
  ) {
    errors.push(typeInvalid(path, value, `${path} in body must be of type ${format}: ${quote(value)}`));
  }
}

function checkNumber(value: number | BigInteger, schema: Schema, path: string, errors: FieldError[]): void {
  const integer = bigintOf(value);
  const number = numberOf(value)!;
  const outOfFormat =
    (schema.type === 'integer' && (integer === undefined || BigInt.asIntN(64, integer) !== integer)) ||
    (schema.format === 'int32' && (number < -(2 ** 31) || number >= 2 ** 31));
  if (outOfFormat) {
    const known = schema.format === 'int32' || schema.format === 'int64';
    const type = known ? `${schema.type} with format ${schema.format}` : `${schema.type} (default format)`;
    errors.push(invalidValue('<nil>', '', `Checked value must be of type ${type} in ${path}`));
  }
  if (schema.multipleOf !== undefined && !isMultiple(number, schema.multipleOf)) {
    errors.push(invalidValue(path, value, `${path} in body should be a multiple of ${schema.multipleOf}`));
  }
  const { minimum, maximum } = schema;
  // JavaScript compares an integer of any size with a number exactly.
  const exact = integer ?? number;
  if (minimum !== undefined && (schema.exclusiveMinimum ? exact <= minimum : exact < minimum)) {
    const text = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    errors.push(invalidValue(path, value, `${path} in body should be ${text} ${minimum}`));
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? exact >= maximum : exact > maximum)) {
    const text = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
    errors.push(invalidValue(path, value, `${path} in body should be ${text} ${maximum}`));
  }
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function checkList(value: Json[], schema: Schema, path: string, old: Old, errors: FieldError[]): void {
  if (schema.items) {
    const oldElement = correlation(schema, old);
    for (const [index, item] of value.entries()) {
      const oldItem = oldElement(item) ?? uncorrelated;
      if (oldItem !== uncorrelated && equalJson(item, oldItem)) continue;
      check(item, schema.items, `${path}[${index}]`, oldItem, errors);
    }
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push(invalidValue(path, value.length, `${path} in body should have at least ${schema.minItems} items`));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    errors.push(tooMany(path, value.length, schema.maxItems));
  }
  if (schema.uniqueItems && new Set(value.map(canonical)).size < value.length) {
    errors.push(invalidValue(path, '', `${path} in body shouldn't contain duplicates`));
  }
}

function checkMembers(
  object: Record<string, Json>,
  schema: Schema,
  path: string,
  old: Old,
  errors: FieldError[],
): void {
  const size = Object.keys(object).length;
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    errors.push(invalidValue(path, size, `${path} in body should have at least ${schema.minProperties} properties`));
  }
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    errors.push(tooMany(path, size, schema.maxProperties));
  }
  const oldObject = old === uncorrelated ? undefined : asObject(old);
  for (const name of Object.keys(object).toSorted()) {
    const property = Object.hasOwn(schema.properties ?? {}, name)
      ? schema.properties![name]!
      : typeof schema.additionalProperties === 'object'
        ? schema.additionalProperties
        : undefined;
    if (!property) continue;
    const value = object[name]!;
    const oldValue: Old = oldObject && Object.hasOwn(oldObject, name) ? oldObject[name] : uncorrelated;
    if (oldValue !== uncorrelated && equalJson(value, oldValue)) continue;
    check(value, property, path ? `${path}.${name}` : name, oldValue, errors);
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(object, name)) errors.push(required(path ? `${path}.${name}` : name));
  }
}

function checkCombinations(value: Json, schema: Schema, path: string, errors: FieldError[]): void {
  const attempt = (alternative: Schema): FieldError[] => {
    const found: FieldError[] = [];
    check(value, alternative, path, uncorrelated, found);
    return found;
  };
  const composite = (text: string): FieldError => invalidValue('<nil>', '', `${quote(path)} ${text}`);
  if (schema.anyOf && schema.anyOf.length > 0) {
    const attempts = schema.anyOf.map(attempt);
    if (!attempts.some((found) => found.length === 0)) {
      errors.push(composite('must validate at least one schema (anyOf)'), ...attempts[0]!);
    }
  }
  if (schema.oneOf && schema.oneOf.length > 0) {
    const attempts = schema.oneOf.map(attempt);
    const fitting = attempts.filter((found) => found.length === 0).length;
    if (fitting !== 1) {
      const found = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`;
      errors.push(composite(`must validate one and only one schema (oneOf). ${found}`));
      if (fitting === 0) errors.push(...attempts[0]!);
    }
  }
  if (schema.allOf && schema.allOf.length > 0) {
    const attempts = schema.allOf.map(attempt);
    for (const found of attempts) for (const error of found) errors.push(error);
    const fitting = attempts.filter((found) => found.length === 0).length;
    if (fitting !== attempts.length) {
      errors.push(composite(`must validate all the schemas (allOf)${fitting === 0 ? '. None validated' : ''}`));
    }
  }
  if (schema.not && attempt(schema.not).length === 0) errors.push(composite('must not validate the schema (not)'));
}
