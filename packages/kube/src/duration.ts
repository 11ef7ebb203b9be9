import { InputError } from './input-error.ts';

/** Milliseconds. Reads well where a delay is asked for: `requeueAfter(minutes(10))`. */
export function milliseconds(count: number): number {
  return count;
}

export function seconds(count: number): number {
  return count * 1_000;
}

export function minutes(count: number): number {
  return count * 60_000;
}

export function hours(count: number): number {
  return count * 3_600_000;
}

export function days(count: number): number {
  return count * 86_400_000;
}

const unitNs: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5 micro sign
  μs: 1_000n, // U+03BC Greek letter mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Milliseconds from a Go-style duration: `1h30m`, `1.5s`, `-250ms`, `0`. Fails with what is wrong in the text. */
export function parseDuration(text: string): number {
  const match = /^([-+]?)(.*)$/s.exec(text)!;
  const [, sign, body = ''] = match;
  if (body === '0') return 0;
  if (body === '') throw new InputError('Duration', `"${text}" is not a duration; write one such as 90s or 1h30m`);
  let total = 0n;
  let rest = body;
  while (rest !== '') {
    const part = /^(\d+\.?\d*|\.\d+)([a-z\u00b5\u03bc]*)/.exec(rest);
    if (!part) throw new InputError('Duration', `"${text}" is not a duration; write one such as 90s or 1h30m`);
    const [, amount = '', unit = ''] = part;
    const factor = Object.hasOwn(unitNs, unit) ? unitNs[unit] : undefined;
    if (factor === undefined)
      throw new InputError(
        'Duration',
        unit === ''
          ? `duration "${text}" has a number without a unit; use h, m, s, ms, us or ns`
          : `duration "${text}" has unknown unit "${unit}"; use h, m, s, ms, us or ns`,
      );
    const [whole = '', fraction = ''] = amount.split('.');
    total += (BigInt(whole + fraction) * factor) / 10n ** BigInt(fraction.length);
    rest = rest.slice(part[0].length);
  }
  // In two steps, so that milliseconds stay exact however long the duration is.
  const result = Number(total / 1_000_000n) + Number(total % 1_000_000n) / 1e6;
  return sign === '-' && result !== 0 ? -result : result;
}

/** The Go-style text of a duration: 5 400 000 gives `1h30m0s`. */
export function formatDuration(durationMs: number): string {
  if (!Number.isFinite(durationMs)) throw new TypeError(`${durationMs} is not a duration`);
  // Whole nanoseconds, as Go counts them: fractions of seconds then print without floating-point dust.
  const magnitude = Math.abs(durationMs);
  const whole = Math.floor(magnitude);
  const total = BigInt(whole) * 1_000_000n + BigInt(Math.round((magnitude - whole) * 1e6));
  if (total === 0n) return '0s';
  const sign = durationMs < 0 ? '-' : '';
  if (total < 1_000n) return `${sign}${total}ns`;
  if (total < 1_000_000n) return `${sign}${decimal(total, 1_000n)}µs`;
  if (total < 1_000_000_000n) return `${sign}${decimal(total, 1_000_000n)}ms`;
  const wholeSeconds = total / 1_000_000_000n;
  const hourCount = wholeSeconds / 3_600n;
  const minuteCount = (wholeSeconds / 60n) % 60n;
  const secondText = decimal(total % 60_000_000_000n, 1_000_000_000n);
  if (hourCount > 0n) return `${sign}${hourCount}h${minuteCount}m${secondText}s`;
  if (minuteCount > 0n) return `${sign}${minuteCount}m${secondText}s`;
  return `${sign}${secondText}s`;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}
