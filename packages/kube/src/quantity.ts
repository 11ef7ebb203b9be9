import { InputError } from './input-error.ts';

const binary: Readonly<Record<string, bigint>> = {
  Ki: 2n ** 10n,
  Mi: 2n ** 20n,
  Gi: 2n ** 30n,
  Ti: 2n ** 40n,
  Pi: 2n ** 50n,
  Ei: 2n ** 60n,
};

const decimalExponent: Readonly<Record<string, number>> = {
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

const pattern = /^([-+]?)(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][-+]?\d+)?$/;

/**
 * An amount of a resource (`500m`, `1Gi`, `2e3`), exact to a billionth: finer parts are rounded up (away from zero), as the
 * server does.
 */
export interface Quantity {
  /** The amount in billionths. */
  readonly nano: bigint;
}

const nanoPerUnit = 1_000_000_000n;

/** Reads an amount as it stands in a manifest. Fails with the text that is wrong. */
export function parseQuantity(value: string | number): Quantity {
  const text = String(value);
  const match = pattern.exec(text);
  if (!match) throw new InputError('Quantity', `"${text}" is not a quantity; write one such as 500m, 2 or 1Gi`);
  const [, sign, digits = '', suffix = ''] = match;
  const point = digits.indexOf('.');
  const fractionLength = point < 0 ? 0 : digits.length - point - 1;
  const integer = BigInt(digits.replace('.', '') || '0');
  const scale = binary[suffix];
  const exponent = scale === undefined ? (decimalExponent[suffix] ?? Number(suffix.slice(1))) : 0;
  if (Math.abs(exponent) > 1_000)
    throw new InputError('Quantity', `"${text}" is not a quantity: its exponent is out of range`);
  const power = 9 + exponent - fractionLength;
  const amount = integer * (scale ?? 1n);
  const nano = power >= 0 ? amount * 10n ** BigInt(power) : divideUp(amount, 10n ** BigInt(-power));
  return { nano: sign === '-' ? -nano : nano };
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

/** Negative, zero or positive as `a` is smaller than, equal to or larger than `b`: for sorting and comparing. */
export function compareQuantities(a: string | number | Quantity, b: string | number | Quantity): number {
  const difference = nanoOf(a) - nanoOf(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function addQuantities(...values: readonly (string | number | Quantity)[]): Quantity {
  return { nano: values.reduce((sum, value) => sum + nanoOf(value), 0n) };
}

export function subtractQuantities(a: string | number | Quantity, b: string | number | Quantity): Quantity {
  return { nano: nanoOf(a) - nanoOf(b) };
}

/** The amount as a JavaScript number, which may round. */
export function quantityToNumber(value: string | number | Quantity): number {
  return Number(nanoOf(value)) / 1e9;
}

/**
 * The shortest exact text: with `binary` in powers of 1024 (memory), else in powers of 1000 (CPU). `1536Mi` stays `1536Mi`,
 * `0.5` becomes `500m`.
 */
export function formatQuantity(value: string | number | Quantity, style: 'decimal' | 'binary' = 'decimal'): string {
  const nano = nanoOf(value);
  if (nano === 0n) return '0';
  const sign = nano < 0n ? '-' : '';
  const amount = nano < 0n ? -nano : nano;
  if (style === 'binary' && amount % nanoPerUnit === 0n) {
    const units = amount / nanoPerUnit;
    if (units < 1024n) return `${sign}${units}`;
    for (const [suffix, factor] of Object.entries(binary).toReversed())
      if (units % factor === 0n) return `${sign}${units / factor}${suffix}`;
    return `${sign}${units}`;
  }
  for (const [suffix, exponent] of Object.entries(decimalExponent).toReversed()) {
    const unit = 10n ** BigInt(exponent + 9);
    if (amount % unit === 0n) return `${sign}${amount / unit}${suffix}`;
  }
  return `${sign}${amount}n`;
}

function nanoOf(value: string | number | Quantity): bigint {
  return typeof value === 'object' ? value.nano : parseQuantity(value).nano;
}
