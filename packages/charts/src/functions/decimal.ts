import { formatFloat } from '../go/float.ts';

/**
 * sprig calculates floats as decimals (shopspring/decimal), so that 0.1 + 0.2 is 0.3: exact digits, sixteen of them after
 * the point of a quotient.
 */
export interface Decimal {
  readonly digits: bigint;
  /** The value is `digits` × 10^`exponent`. */
  readonly exponent: number;
}

export type DecimalOperation = (a: Decimal, b: Decimal) => Decimal;

const divisionPrecision = 16;

/** Digits a result may have between its parts: many more than any float, and few enough to calculate with. */
const mostDigits = 10_000;
const largest = 10n ** BigInt(mostDigits);

function bounded(decimal: Decimal): Decimal {
  const { digits, exponent } = decimal;
  if (Math.abs(exponent) > mostDigits || digits > largest || digits < -largest)
    throw new Error('a decimal with so many digits is too long');
  return decimal;
}

export function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value)) throw new Error(`Cannot create a Decimal from ${formatFloat(value, 'g')}`);
  const [mantissa, power] = value.toExponential().split('e') as [string, string];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?];
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

export function numberOf({ digits, exponent }: Decimal): number {
  return Number(`${digits}e${exponent}`);
}

function align(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.digits * 10n ** BigInt(a.exponent - exponent), b.digits * 10n ** BigInt(b.exponent - exponent), exponent];
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const [x, y, exponent] = align(a, b);
  return bounded({ digits: x + y, exponent });
}

export function subtractDecimals(a: Decimal, b: Decimal): Decimal {
  return addDecimals(a, { digits: -b.digits, exponent: b.exponent });
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return bounded({ digits: a.digits * b.digits, exponent: a.exponent + b.exponent });
}

export function divideDecimals(x: Decimal, y: Decimal): Decimal {
  if (y.digits === 0n) throw new Error('decimal division by 0');
  const shift = x.exponent - y.exponent + divisionPrecision;
  const numerator = shift >= 0 ? x.digits * 10n ** BigInt(shift) : x.digits;
  const denominator = shift >= 0 ? y.digits : y.digits * 10n ** BigInt(-shift);
  const quotient = numerator / denominator;
  const rest = numerator % denominator;
  const twice = 2n * (rest < 0n ? -rest : rest);
  const size = denominator < 0n ? -denominator : denominator;
  const up = twice >= size ? (numerator < 0n === denominator < 0n ? 1n : -1n) : 0n;
  return bounded({ digits: quotient + up, exponent: -divisionPrecision });
}
