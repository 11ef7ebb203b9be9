/**
 * sprig calculates floats as decimals (shopspring/decimal), so that 0.1 + 0.2 is 0.3: exact digits, sixteen of them after
 * the point of a quotient.
 */
interface Decimal {
  readonly digits: bigint;
  /** The value is `digits` × 10^`exponent`. */
  readonly exponent: number;
}

export type DecimalOperation = (a: number, b: number) => number;

const divisionPrecision = 16;

function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value)) throw new Error(`Cannot create a Decimal from ${value}`);
  const [mantissa, power] = value.toExponential().split('e') as [string, string];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?];
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function numberOf({ digits, exponent }: Decimal): number {
  return Number(`${digits}e${exponent}`);
}

function align(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.digits * 10n ** BigInt(a.exponent - exponent), b.digits * 10n ** BigInt(b.exponent - exponent), exponent];
}

export function addDecimals(a: number, b: number): number {
  const [x, y, exponent] = align(decimalOf(a), decimalOf(b));
  return numberOf({ digits: x + y, exponent });
}

export function multiplyDecimals(a: number, b: number): number {
  const x = decimalOf(a);
  const y = decimalOf(b);
  return numberOf({ digits: x.digits * y.digits, exponent: x.exponent + y.exponent });
}

export function divideDecimals(a: number, b: number): number {
  const x = decimalOf(a);
  const y = decimalOf(b);
  if (y.digits === 0n) throw new Error('decimal division by 0');
  const shift = x.exponent - y.exponent + divisionPrecision;
  const numerator = shift >= 0 ? x.digits * 10n ** BigInt(shift) : x.digits;
  const denominator = shift >= 0 ? y.digits : y.digits * 10n ** BigInt(-shift);
  const quotient = numerator / denominator;
  const rest = numerator % denominator;
  const twice = 2n * (rest < 0n ? -rest : rest);
  const size = denominator < 0n ? -denominator : denominator;
  const up = twice >= size ? (numerator < 0n === denominator < 0n ? 1n : -1n) : 0n;
  return numberOf({ digits: quotient + up, exponent: -divisionPrecision });
}
