/** Go's strconv for `float64`: shortest digits, or exact ones rounded half to even. */

interface Digits {
  readonly negative: boolean;
  /** Significant digits without leading zeros; empty for zero. */
  readonly digits: string;
  /** Where the decimal point is, counted from the start of the digits. */
  readonly point: number;
}

export type FloatFormat = 'e' | 'E' | 'f' | 'g' | 'G';

/** Formats like `strconv.FormatFloat(value, format, precision, 64)`; `precision` −1 asks for the shortest digits that read back. */
export function formatFloat(value: number, format: FloatFormat, precision = -1): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const shortest = precision < 0;
  let exact = shortest ? shortestDigits(value) : exactDigits(value);
  const lower = format.toLowerCase() as 'e' | 'f' | 'g';
  if (!shortest) {
    const kept = lower === 'f' ? exact.point + precision : lower === 'e' ? precision + 1 : Math.max(precision, 1);
    exact = roundDigits(exact, kept);
  }
  const { digits, point } = exact;
  const sign = exact.negative ? '-' : '';
  if (lower === 'f') return sign + fixed(exact, shortest ? Math.max(digits.length - point, 0) : precision);
  if (lower === 'e') return sign + scientific(exact, shortest ? Math.max(digits.length - 1, 0) : precision, format);
  let threshold = shortest ? 6 : Math.max(precision, 1);
  if (!shortest && threshold > digits.length && digits.length >= point) threshold = digits.length;
  const exponent = point - 1;
  if (digits !== '' && (exponent < -4 || exponent >= threshold)) {
    return sign + scientific(exact, digits.length - 1, format === 'G' ? 'E' : 'e');
  }
  return sign + fixed(exact, Math.max(digits.length - point, 0));
}

function fixed({ digits, point }: Digits, decimals: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (decimals <= 0) return whole;
  const fraction = ('0'.repeat(Math.max(-point, 0)) + digits.slice(Math.max(point, 0))).slice(0, decimals);
  return `${whole}.${fraction.padEnd(decimals, '0')}`;
}

function scientific({ digits, point }: Digits, decimals: number, mark: string): string {
  const exponent = digits === '' ? 0 : point - 1;
  const head = digits[0] ?? '0';
  const tail = decimals > 0 ? `.${digits.slice(1, 1 + decimals).padEnd(decimals, '0')}` : '';
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${head}${tail}${mark}${exponent < 0 ? '-' : '+'}${size}`;
}

function shortestDigits(value: number): Digits {
  const negative = value < 0 || Object.is(value, -0);
  if (value === 0) return { negative, digits: '', point: 0 };
  const [mantissa, exponent] = Math.abs(value).toExponential().split('e') as [string, string];
  return { negative, digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

function exactDigits(value: number): Digits {
  const negative = value < 0 || Object.is(value, -0);
  if (value === 0) return { negative, digits: '', point: 0 };
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const mantissa = biased === 0 ? bits : (bits & 0xfffffffffffffn) | 0x10000000000000n;
  const power = (biased === 0 ? 1 : biased) - 1075;
  if (power >= 0) {
    const text = (mantissa << BigInt(power)).toString();
    return { negative, digits: text.replace(/0+$/, ''), point: text.length };
  }
  const text = (mantissa * 5n ** BigInt(-power)).toString();
  return { negative, digits: text.replace(/0+$/, ''), point: text.length + power };
}

function roundDigits({ negative, digits, point }: Digits, kept: number): Digits {
  if (kept < 0) return { negative, digits: '', point: 0 };
  if (kept >= digits.length) return { negative, digits, point };
  const rest = digits.slice(kept);
  const half = rest[0] === '5' && !/[1-9]/.test(rest.slice(1));
  const odd = kept > 0 && Number(digits[kept - 1]) % 2 === 1;
  const up = half ? odd : rest[0]! >= '5';
  let head = digits.slice(0, kept);
  let moved = point;
  if (up) {
    const raised = (BigInt(head || '0') + 1n).toString();
    if (raised.length > head.length) moved += 1;
    head = raised;
  }
  head = head.replace(/0+$/, '');
  return head === '' ? { negative, digits: '', point: 0 } : { negative, digits: head, point: moved };
}
