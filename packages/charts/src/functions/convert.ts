import { bytesToText } from '../go/bytes.ts';
import { show } from '../go/format.ts';
import { GoObject, SizedInt, strings, type Value } from '../go/values.ts';
import { parseFloatLiteral, parseInteger } from '../template/numbers.ts';

/** The forgiving conversions sprig's functions begin with. */

/** `strval`: bytes are text, everything else as `%v`. */
export function toText(value: Value): string {
  if (typeof value === 'string') return value;
  return value instanceof Uint8Array ? bytesToText(value) : show(value);
}

/** `strslice`: the texts of a list's elements, nils left out; anything else is a list of one. */
export function toTexts(value: Value): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.filter((item) => item !== null && item !== undefined).map(toText);
  if (value instanceof Uint8Array) return [...value].map(String);
  if (value instanceof GoObject && value.goKind === 'slice') return toTexts(value.contents() as Value[]);
  return [toText(value)];
}

export function toTextList(value: Value): Value[] {
  return strings(toTexts(value));
}

const minInt64 = -(1n << 63n);
const maxInt64 = (1n << 63n) - 1n;

/** spf13/cast's `ToInt64`: 0 when it makes no sense. */
export function toInteger(value: Value): bigint {
  switch (typeof value) {
    case 'bigint':
      return value;
    case 'number':
      return floatToInteger(value);
    case 'boolean':
      return value ? 1n : 0n;
    case 'string': {
      const integer = parseInteger(value.replace(/^([^.]+)\.0+$/, '$1'));
      return integer === undefined || integer < minInt64 || integer > maxInt64 ? 0n : integer;
    }
  }
  return value instanceof SizedInt && isNumber(value) ? BigInt.asIntN(64, value.value) : 0n;
}

/** A duration is none to cast. */
function isNumber({ type }: SizedInt): boolean {
  return type !== 'time.Duration';
}

/** What the machine makes of a float that fits no integer is the smallest one. */
function floatToInteger(value: number): bigint {
  if (Number.isNaN(value) || value >= 2 ** 63 || value < -(2 ** 63)) return minInt64;
  return BigInt(Math.trunc(value));
}

/** spf13/cast's `ToFloat64`. */
export function toFloat(value: Value): number {
  switch (typeof value) {
    case 'bigint':
      return Number(value);
    case 'number':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    case 'string':
      return parseGoFloat(value) ?? 0;
  }
  return value instanceof SizedInt && isNumber(value) ? Number(value.value) : 0;
}

/** `strconv.ParseFloat`, which also knows infinity. */
export function parseGoFloat(text: string): number | undefined {
  if (/^nan$/i.test(text)) return Number.NaN;
  const word = /^([+-]?)inf(?:inity)?$/i.exec(text);
  if (word) return word[1] === '-' ? -Infinity : Infinity;
  return parseFloatLiteral(text);
}
