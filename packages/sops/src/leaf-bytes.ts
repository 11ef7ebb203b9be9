import { type Leaf, Timestamp } from './tree.ts';

/** The bytes of a leaf that are encrypted and that the MAC is made of. They are the same as in the first SOPS, written in Python. */
export function leafBytes(leaf: Exclude<Leaf, null>): Buffer {
  if (leaf instanceof Uint8Array) return Buffer.from(leaf);
  if (leaf instanceof Timestamp) return Buffer.from(leaf.text);
  if (typeof leaf === 'boolean') return Buffer.from(leaf ? 'True' : 'False');
  if (typeof leaf === 'number') return Buffer.from(floatText(leaf));
  return Buffer.from(String(leaf));
}

/** The shortest decimal without an exponent, as Go's `FormatFloat(x, 'f', -1, 64)` gives it. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [mantissa = '', exponent] = String(value).split('e');
  if (exponent === undefined) return mantissa;
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return sign + digits.padEnd(point, '0');
}
