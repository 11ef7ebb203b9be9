import { quote } from '../go/quote.ts';
import { SizedInt } from '../go/values.ts';

/** Go's `time.Duration`: nanoseconds in an int64. */

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

export const second = 1_000_000_000n;

export function duration(nanoseconds: bigint): SizedInt {
  return new SizedInt('int64', nanoseconds, 'time.Duration', durationText(BigInt.asIntN(64, nanoseconds)));
}

/** `time.ParseDuration`; throws what Go would say. */
export function parseDuration(text: string): bigint {
  const invalid = () => new Error(`time: invalid duration ${quote(text)}`);
  const [, sign, body] = /^([+-]?)(.*)$/s.exec(text)!;
  if (body === '0') return 0n;
  if (body === '') throw invalid();
  let total = 0n;
  const part = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
  while (part.lastIndex < body!.length) {
    const match = part.exec(body!);
    if (!match || match[0] === '' || ((match[1] ?? '') === '' && (match[2] ?? '') === '')) throw invalid();
    const [, whole = '', fraction = '', unit = ''] = match;
    if (unit === '') throw new Error(`time: missing unit in duration ${quote(text)}`);
    const size = units[unit];
    if (size === undefined) throw new Error(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    total += BigInt(whole || '0') * size;
    if (fraction !== '') total += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  if (total > 1n << 63n) throw invalid();
  return sign === '-' ? -total : total;
}

/** `1h15m30.918s` */
export function durationText(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < second) {
    const [unit, name] = size < 1_000n ? [1n, 'ns'] : size < 1_000_000n ? [1_000n, 'µs'] : [1_000_000n, 'ms'];
    return `${sign}${decimal(size, unit as bigint)}${name as string}`;
  }
  const seconds = decimal(size % (60n * second), second);
  const minutes = size / (60n * second);
  const hours = minutes / 60n;
  if (minutes === 0n) return `${sign}${seconds}s`;
  return `${sign}${hours > 0n ? `${hours}h` : ''}${minutes % 60n}m${seconds}s`;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' || unit === 1n ? String(value / unit) : `${value / unit}.${fraction}`;
}

/** Rounds half away from zero to a multiple. */
export function roundDuration(nanoseconds: bigint, multiple: bigint): bigint {
  if (multiple <= 0n) return nanoseconds;
  const rest = nanoseconds % multiple;
  const size = rest < 0n ? -rest : rest;
  const down = nanoseconds - rest;
  if (size + size < multiple) return down;
  return nanoseconds < 0n ? down - multiple : down + multiple;
}
