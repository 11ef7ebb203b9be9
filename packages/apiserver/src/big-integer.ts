import type { Json } from './object.ts';

/**
 * An integer a JavaScript number cannot hold, with its digits as they were written. `JSON.stringify` prints it as it is. All that
 * asks whether a value is an object must ask {@link isJsonObject}: this one is a number. `structuredClone` destroys it, `cloneJson`
 * does not.
 */
export type BigInteger = { readonly rawJSON: string };

interface RawJson {
  readonly rawJSON: (text: string) => BigInteger;
  readonly isRawJSON: (value: unknown) => boolean;
}
const { rawJSON, isRawJSON } = JSON as unknown as RawJson;

export function isBigInteger(value: unknown): value is BigInteger {
  // The look at the property first: the question itself is a slow one, and nearly no object has it.
  return typeof value === 'object' && value !== null && 'rawJSON' in value && isRawJSON(value);
}

/** Whether a value is a JSON object; lists, null and big integers are not. */
export function isJsonObject(value: unknown): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBigInteger(value);
}

const smallest = -(2n ** 63n);
const largest = 2n ** 63n - 1n;

/** An integer of any size: a number where that is exact and prints the same, or where Go has no integer either, which end at 64 bits. */
export function integerOf(value: bigint): number | BigInteger {
  const number = Number(value);
  const same = BigInt(number) === value && String(number) === String(value);
  return same || value < smallest || value > largest ? number : rawJSON(String(value));
}

/** The integer in a value that is one. */
export function bigintOf(value: unknown): bigint | undefined {
  if (isBigInteger(value)) return BigInt(value.rawJSON);
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/** The nearest number, for what counts in doubles. */
export function numberOf(value: unknown): number | undefined {
  if (isBigInteger(value)) return Number(value.rawJSON);
  return typeof value === 'number' ? value : undefined;
}

/** Parses JSON without rounding integers. Texts without long numbers are parsed as fast as ever. */
export function parseExactly(text: string): Json {
  // oxlint-disable-next-line typescript/no-unsafe-argument -- the reviver's third argument has no type yet
  return longNumber.test(text) ? (JSON.parse(text, exactly as never) as Json) : (JSON.parse(text) as Json);
}

const longNumber = /\d{16}/;

function exactly(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  return source !== undefined && /^-?\d+$/.test(source) ? integerOf(BigInt(source)) : value;
}
