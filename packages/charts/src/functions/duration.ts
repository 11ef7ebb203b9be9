import { SizedInt, type GoFunction, type Value } from '../go/values.ts';
import { fn } from '../template/signature.ts';
import { quoteTime } from './time-quote.ts';

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
  const size = BigInt.asIntN(64, nanoseconds);
  return new SizedInt('int64', size, 'time.Duration', durationText(size), (name) => durationMethod(size, name));
}

/** `time.ParseDuration`; throws what Go would say. */
export function parseDuration(text: string): bigint {
  const invalid = () => new Error(`time: invalid duration ${quoteTime(text)}`);
  const [, sign, body] = /^([+-]?)(.*)$/s.exec(text)!;
  if (body === '0') return 0n;
  if (body === '') throw invalid();
  let total = 0n;
  const part = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
  while (part.lastIndex < body!.length) {
    const match = part.exec(body!);
    if (!match || match[0] === '' || ((match[1] ?? '') === '' && (match[2] ?? '') === '')) throw invalid();
    const [, whole = '', fraction = '', unit = ''] = match;
    if (unit === '') throw new Error(`time: missing unit in duration ${quoteTime(text)}`);
    const size = units[unit];
    if (size === undefined) throw new Error(`time: unknown unit ${quoteTime(unit)} in duration ${quoteTime(text)}`);
    total += BigInt(whole || '0') * size;
    if (fraction !== '') total += fractionOf(fraction, size);
  }
  if (total > 1n << 63n || (total === 1n << 63n && sign !== '-')) throw invalid();
  return sign === '-' ? -total : total;
}

/** Go takes as many digits as an integer holds, and rounds what comes of them as floats do. */
function fractionOf(digits: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (next > 1n << 63n) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

/** Go divides whole units and the rest apart, which rounds differently from one division. */
export function inUnits(nanoseconds: bigint, unit: bigint): number {
  return Number(nanoseconds / unit) + Number(nanoseconds % unit) / Number(unit);
}

export const minute = 60n * second;
export const hour = 60n * minute;

function durationMethod(nanoseconds: bigint, name: string): GoFunction<unknown> | undefined {
  const answer = (value: Value) => fn([], () => value);
  const multiple = (change: (size: bigint) => bigint) =>
    fn(['struct time.Duration'], (other) => duration(change((other as unknown as SizedInt).value)));
  switch (name) {
    case 'Hours':
      return answer(inUnits(nanoseconds, hour));
    case 'Minutes':
      return answer(inUnits(nanoseconds, minute));
    case 'Seconds':
      return answer(inUnits(nanoseconds, second));
    case 'Milliseconds':
      return answer(new SizedInt('int64', nanoseconds / 1_000_000n));
    case 'Microseconds':
      return answer(new SizedInt('int64', nanoseconds / 1000n));
    case 'Nanoseconds':
      return answer(new SizedInt('int64', nanoseconds));
    case 'Abs':
      return answer(duration(nanoseconds < 0n ? -nanoseconds : nanoseconds));
    case 'Round':
      return multiple((size) => roundDuration(nanoseconds, size));
    case 'Truncate':
      return multiple((size) => truncateDuration(nanoseconds, size));
    default:
      return undefined;
  }
}

export function truncateDuration(nanoseconds: bigint, multiple: bigint): bigint {
  return multiple <= 0n ? nanoseconds : nanoseconds - (nanoseconds % multiple);
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
