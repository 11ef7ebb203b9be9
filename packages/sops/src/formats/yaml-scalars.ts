import { SopsError } from '../sops-error.ts';
import { type Leaf, Timestamp } from '../tree.ts';

/**
 * What an unquoted YAML word means, as the Go library of sops reads it. Values that stay clear are signed in their decoded form, so
 * a different reading here would make every MAC wrong.
 */
export function resolvePlain(text: string, where: string): Leaf {
  const known = words.get(text);
  if (known !== undefined) return known;
  if (!/^[-+.\d]/.test(text)) return text;
  return timestampOf(text) ?? numberOf(text, where) ?? text;
}

const words = new Map<string, Leaf>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Infinity] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, -Infinity] as const),
]);

const decimal = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

function numberOf(text: string, where: string): bigint | number | undefined {
  const plain = text.replaceAll('_', '');
  const whole = wholeNumber(plain);
  if (whole !== undefined && whole >= minInt64 && whole <= maxInt64) return whole;
  if (whole !== undefined && whole > maxInt64 && whole < 2n ** 64n) {
    throw new SopsError('input', `${where}: a whole number above the largest int64 cannot be encrypted`, {
      hint: 'write it in quotes',
    });
  }
  // One that is too large for a float is a text to the Go library.
  return decimal.test(plain) && Number.isFinite(Number(plain)) ? Number(plain) : undefined;
}

/** Go's base 0: `0x`, `0o`, `0b`, and a leading zero for octal. */
function wholeNumber(text: string): bigint | undefined {
  const match = /^([-+]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)$/.exec(text);
  if (match === null) return undefined;
  const [, sign, digits = ''] = match;
  const magnitude = BigInt(digits.replace(/^0[oO]?(?=[0-7])/, '0o'));
  return sign === '-' ? -magnitude : magnitude;
}

const timestampForm =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})([.,]\d+)?(?:Z|([-+])(\d{2}):(\d{2})))|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})([.,]\d+)?))?$/;

function timestampOf(text: string): Timestamp | undefined {
  const match = timestampForm.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = ''] = match;
  const [hour = '0', minute = '0', second = '0', fraction = ''] =
    match[4] === undefined ? match.slice(11) : match.slice(4);
  // Years repeat after 400; the first hundred are others to Node.
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  const [sign = '+', zoneHours = '0', zoneMinutes = '0'] = match.slice(8);
  const valid =
    between(month, 1, 12) &&
    between(day, 1, days) &&
    between(hour, 0, 23) &&
    between(minute, 0, 59) &&
    between(second, 0, 59) &&
    between(zoneHours, 0, 23) &&
    between(zoneMinutes, 0, 59);
  if (!valid) return undefined;
  const two = (part: string): string => part.padStart(2, '0');
  // Go keeps nine digits, and takes a comma for the point.
  const decimals = fraction.slice(1, 10).replace(/0+$/, '');
  const zone = Number(zoneHours) + Number(zoneMinutes) === 0 ? 'Z' : `${sign}${two(zoneHours)}:${two(zoneMinutes)}`;
  return new Timestamp(
    `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${decimals && `.${decimals}`}${zone}`,
  );
}

function between(text: string, low: number, high: number): boolean {
  return Number(text) >= low && Number(text) <= high;
}
