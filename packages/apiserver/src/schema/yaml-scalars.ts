import { integerOf } from '../big-integer.ts';
import type { Json } from '../object.ts';

const words = new Map<string, null | boolean>([
  ...['', '~', 'null', 'Null', 'NULL'].map((text) => [text, null] as const),
  ...['true', 'True', 'TRUE', 'y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'].map((text) => [text, true] as const),
  ...['false', 'False', 'FALSE', 'n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF'].map((text) => [text, false] as const),
]);
const integer = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const notFinite = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/;
const smallest = -(2n ** 63n);
const largest = 2n ** 64n - 1n;

/** Characters a plain scalar that is no text can begin with; '' is the empty one. */
export const firstCharacters: readonly string[] = ['', ...Array.from('~nNyYtTfFoO+-.0123456789')];

/**
 * What a plain scalar means to Go's reader of YAML 1.1: `yes`, `on` and `y` are booleans, `010` is 8, `1_000` a number; times and dates
 * stay text. `undefined` when it is text.
 */
export function plainScalar(text: string): Exclude<Json, string> | undefined {
  const word = words.get(text);
  if (word !== undefined) return word;
  const digits = text.replaceAll('_', '');
  const whole = integer.exec(digits);
  if (whole) {
    const value = integerIn(whole[2]!) * (whole[1] === '-' ? -1n : 1n);
    // Beyond 64 bits Go goes on with floating point.
    return value >= smallest && value <= largest ? integerOf(value) : Number(value);
  }
  if (float.test(digits)) return Number(digits);
  return notFinite.test(text) ? notFiniteNumber(text) : undefined;
}

function integerIn(digits: string): bigint {
  return BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits.toLowerCase());
}

function notFiniteNumber(text: string): number {
  if (text.toLowerCase() === '.nan') return Number.NaN;
  return text.startsWith('-') ? -Infinity : Infinity;
}
