import type { FieldError } from '../api-error.ts';

/** A value printed the way Go prints it inside a validation message: JSON with `<`, `>` and `&` escaped. */
export function printValue(value: unknown): string {
  if (value === undefined) return 'null';
  if (typeof value === 'string') return quote(value);
  return JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026');
}

const goEscapes: Readonly<Record<string, string>> = { '\u0007': '\\a', '\u000b': '\\v' };

/** Go's `%q`: like JSON for everything that people type. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/\\u00([01][0-9a-f])/g, (_, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return goEscapes[character] ?? `\\x${digits}`;
  });
}

function withDetail(head: string, detail: string): string {
  return detail ? `${head}: ${detail}` : head;
}

export function required(field: string, detail = ''): FieldError {
  return { reason: 'FieldValueRequired', field, detail: withDetail('Required value', detail) };
}

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, detail: withDetail(`Invalid value: ${printValue(value)}`, detail) };
}

/** A value of the wrong JSON type; `typeName` is what the message shows instead of the value. */
export function typeInvalid(field: string, shown: unknown, detail: string): FieldError {
  return { reason: 'FieldValueTypeInvalid', field, detail: withDetail(`Invalid value: ${printValue(shown)}`, detail) };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const values = supported.map(quote).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    field,
    detail: withDetail(`Unsupported value: ${printValue(value)}`, values && `supported values: ${values}`),
  };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueDuplicate', field, detail: `Duplicate value: ${printValue(value)}` };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, detail: withDetail('Forbidden', detail) };
}

/** `maximum` is in bytes. */
export function tooLong(field: string, maximum: number): FieldError {
  return {
    reason: 'FieldValueTooLong',
    field,
    detail: `Too long: may not be more than ${maximum} ${maximum === 1 ? 'byte' : 'bytes'}`,
  };
}

export function tooMany(field: string, actual: number, maximum: number): FieldError {
  return {
    reason: 'FieldValueTooMany',
    field,
    detail: `Too many: ${actual}: must have at most ${maximum} ${maximum === 1 ? 'item' : 'items'}`,
  };
}

export function notFoundValue(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueNotFound', field, detail: `Not found: ${printValue(value)}` };
}

export const immutableText = 'field is immutable';
