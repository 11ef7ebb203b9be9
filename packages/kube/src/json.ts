/**
 * JSON as Kubernetes means it: int64 fields may hold more than a JavaScript number can (above 2^53). Such an integer is kept as
 * its digits, prints as the number it was, and is equal only to the same digits.
 */
export interface LargeInteger {
  readonly rawJSON: string;
}

// Part of the language since Node 21; its types are not in every library of TypeScript.
const json = JSON as typeof JSON & {
  rawJSON(text: string): LargeInteger;
  isRawJSON(value: unknown): value is LargeInteger;
};

const parseWith = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;

const wholeNumber = /^-?\d+$/;
/** 2^53 has sixteen digits; whoever has fewer in a row is safe. */
const manyDigits = /\d{16}/;

/** Parses JSON without rounding integers. As fast as `JSON.parse` unless there are sixteen digits in a row. */
export function parseJson(text: string): unknown {
  if (!manyDigits.test(text)) return JSON.parse(text);
  return parseWith(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    return source !== undefined && wholeNumber.test(source) ? json.rawJSON(source) : value;
  });
}

/** Whether a parsed value is an integer that no JavaScript number can hold. */
export function isLargeInteger(value: unknown): value is LargeInteger {
  return json.isRawJSON(value);
}

/** The value that prints as these digits; a plain number when one can hold them. */
export function integerFrom(digits: string | bigint): LargeInteger | number {
  const text = String(digits);
  if (!wholeNumber.test(text)) throw new TypeError(`'${text}' is not a whole number`);
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : json.rawJSON(BigInt(text).toString());
}

/** The integer itself, for arithmetic. */
export function toBigInt(value: LargeInteger | number): bigint {
  return BigInt(isLargeInteger(value) ? value.rawJSON : value);
}

/** Whether a value of wire data has fields: no list, no null, no large integer. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLargeInteger(value);
}
