/** A parsed `resource.Quantity`: its value and the family of suffixes it was written with. */
export interface Quantity {
  /** The value in units of 10⁻⁹, rounded up away from zero as the real server does. */
  readonly nanos: bigint;
  readonly format: 'DecimalSI' | 'BinarySI' | 'DecimalExponent';
  /** The text itself, when the real server would print it again as it came (`1500m`, `1e3`). */
  readonly text?: string;
}

const billion = 1_000_000_000n;
const pattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(.*)$/;
const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimalOrder = ['E', 'P', 'T', 'G', 'M', 'k', '', 'm', 'u', 'n'];

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";

/** Parses a quantity such as `1.5Gi`. Throws an Error with the real server's text. */
export function parseQuantity(text: string): Quantity {
  if (text === '') throw new Error(wrongFormat);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = pattern.exec(text) ?? [];
  if (whole === '' && fraction === '') throw new Error(wrongFormat);
  if (!/^[eEinumkKMGTP]*[-+]?[0-9]*$/.test(suffix)) throw new Error(wrongFormat);
  const digits = BigInt(whole + fraction);
  let numerator = digits * billion;
  let denominator = 10n ** BigInt(fraction.length);
  let format: Quantity['format'] = 'DecimalSI';

  const binary = binarySuffixes.indexOf(suffix);
  const decimal = decimalSuffixes[suffix];
  const exponent = /^[eE]([-+]?[0-9]+)$/.exec(suffix)?.[1];
  if (binary >= 0) {
    numerator *= 1024n ** BigInt(binary + 1);
    format = 'BinarySI';
  } else if (decimal !== undefined) {
    if (decimal >= 0) numerator *= 10n ** BigInt(decimal);
    else denominator *= 10n ** BigInt(-decimal);
  } else if (exponent !== undefined) {
    const power = Number(exponent);
    // Far outside of what a quantity can hold anyway; keeps the arithmetic small.
    if (Math.abs(power) > 100) throw new Error(wrongSuffix);
    if (power >= 0) numerator *= 10n ** BigInt(power);
    else denominator *= 10n ** BigInt(-power);
    format = 'DecimalExponent';
  } else throw new Error(wrongSuffix);

  let nanos = numerator / denominator;
  if (nanos * denominator !== numerator) nanos += 1n;
  const limit = (2n ** 63n - 1n) * billion;
  if (format === 'BinarySI' && nanos > limit) nanos = limit;
  const value = sign === '-' ? -nanos : nanos;
  const reused = isReused(whole, fraction, format, decimal ?? Number(exponent ?? 0), binary);
  return reused ? { nanos: value, format, text } : { nanos: value, format };
}

/** Whether the text counts as canonical already. The real server is lenient here: `1.500` and `+5Gi` stay as they are. */
function isReused(
  whole: string,
  fraction: string,
  format: Quantity['format'],
  exponent10: number,
  binaryPower: number,
): boolean {
  const digits = whole + fraction;
  if (format === 'BinarySI') {
    const precision = 15 - whole.length - Math.trunc((binaryPower + 1) * 3) - 1;
    return fraction === '' && precision >= 0 && (BigInt(digits) & 7n) !== 0n;
  }
  const scale = exponent10 - fraction.length;
  return digits.length <= 18 && scale >= -9 && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

/** The one way the server writes a quantity: no fraction, the largest suffix that fits. */
export function formatQuantity({ nanos, format, text }: Quantity): string {
  if (text !== undefined) return text;
  if (nanos === 0n) return '0';
  const sign = nanos < 0n ? '-' : '';
  const value = nanos < 0n ? -nanos : nanos;
  if (format === 'BinarySI') {
    if (value % billion === 0n && value >= 1024n * billion) {
      let units = value / billion;
      let power = 0;
      while (units % 1024n === 0n && power < binarySuffixes.length) {
        units /= 1024n;
        power += 1;
      }
      return `${sign}${units}${power === 0 ? '' : binarySuffixes[power - 1]}`;
    }
    return formatQuantity({ nanos, format: 'DecimalSI' });
  }
  let exponent = -9;
  let units = value;
  while (units % 1000n === 0n && (exponent < 18 || format === 'DecimalExponent')) {
    units /= 1000n;
    exponent += 3;
  }
  if (format === 'DecimalExponent') return `${sign}${units}${exponent === 0 ? '' : `e${exponent}`}`;
  return `${sign}${units}${decimalOrder[6 - exponent / 3]}`;
}

/** `0.5` → `500m`, `1024Mi` → `1Gi`. Throws like {@link parseQuantity}. */
export function canonicalQuantity(text: string): string {
  return formatQuantity(parseQuantity(text));
}

/** Negative, zero or positive, as `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: string, b: string): number {
  const [x, y] = [parseQuantity(a).nanos, parseQuantity(b).nanos];
  return x < y ? -1 : x > y ? 1 : 0;
}
