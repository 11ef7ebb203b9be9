/** Bits of a float behind the point. */
const fractionBits = 52;

/** A float by its bits: `%b` is the integer they are times a power of two, `%x` what stands before and behind a point, in hex. */
export function formatBinaryFloat(value: number, verb: 'b' | 'x' | 'X', precision: number | undefined): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const sign = bits >> 63n ? '-' : '';
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = biased === 0 ? fraction : fraction | 0x10000000000000n;
  const power = (biased === 0 ? 1 : biased) - 1023;
  if (verb === 'b') return `${sign}${mantissa}p${signed(power - fractionBits)}`;
  const text = sign + hexText(mantissa, power, precision);
  return verb === 'X' ? text.toUpperCase() : text;
}

function signed(power: number): string {
  return power < 0 ? String(power) : `+${power}`;
}

function hexText(bits: bigint, exponent: number, precision: number | undefined): string {
  let mantissa = bits;
  let power = bits === 0n ? 0 : exponent;
  // The smallest floats have no one before their point.
  for (; mantissa !== 0n && mantissa >> 52n === 0n; power -= 1) mantissa <<= 1n;
  let kept = fractionBits / 4;
  if (precision !== undefined && precision < kept) {
    kept = precision;
    mantissa = rounded(mantissa, BigInt(fractionBits - 4 * kept));
    if (mantissa >> BigInt(4 * kept + 1) > 0n) {
      mantissa >>= 1n;
      power += 1;
    }
  }
  const whole = mantissa >> BigInt(4 * kept);
  let digits = kept === 0 ? '' : (mantissa - (whole << BigInt(4 * kept))).toString(16).padStart(kept, '0');
  digits = precision === undefined ? digits.replace(/0+$/, '') : digits.padEnd(precision, '0');
  const size = String(Math.abs(power)).padStart(2, '0');
  return `0x${whole}${digits === '' ? '' : `.${digits}`}p${power < 0 ? '-' : '+'}${size}`;
}

/** Without its last bits, half of what they can be to the even side. */
function rounded(value: bigint, dropped: bigint): bigint {
  const kept = value >> dropped;
  const rest = value - (kept << dropped);
  const half = 1n << (dropped - 1n);
  return rest > half || (rest === half && kept % 2n === 1n) ? kept + 1n : kept;
}
