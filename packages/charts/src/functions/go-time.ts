import { GoObject, int64, SizedInt, type GoFunction, type Value } from '../go/values.ts';
import { fn } from '../template/signature.ts';
import { duration } from './duration.ts';
import { formatLayout } from './time-layout.ts';
import { isWrittenAsFile, shortZoneName } from './zone-names.ts';
import { months, weekdays, type WallClock } from './wall-clock.ts';

const formatters = new Map<string, Intl.DateTimeFormat>();

/** A zone that is only an offset, as a text with one gives a time. */
export interface FixedZone {
  readonly name: string;
  readonly offset: number;
}

/** Go's `time.Time`. */
export class GoTime extends GoObject {
  override readonly goType = 'time.Time';
  override readonly isYamlScalar = true;
  readonly epochMs: number;
  readonly timeZone: string | FixedZone;
  /** What is beyond milliseconds. */
  readonly nanoseconds: number;

  constructor(epochMs: number, timeZone: string | FixedZone, nanoseconds = 0) {
    super();
    this.epochMs = epochMs;
    this.timeZone = timeZone;
    this.nanoseconds = nanoseconds;
  }

  /** The zero of its type: the first of January of the year 1. */
  static zero(): GoTime {
    return new GoTime(Date.UTC(2000, 0, 1) - 63_082_281_600_000, 'UTC');
  }

  in(timeZone: string | FixedZone): GoTime {
    return new GoTime(this.epochMs, timeZone, this.nanoseconds);
  }

  add(nanoseconds: bigint): GoTime {
    const total = BigInt(this.nanoseconds) + nanoseconds;
    const milliseconds = total / 1_000_000n - (total % 1_000_000n < 0n ? 1n : 0n);
    return new GoTime(this.epochMs + Number(milliseconds), this.timeZone, Number(total - milliseconds * 1_000_000n));
  }

  unix(): bigint {
    return BigInt(Math.floor(this.epochMs / 1000));
  }

  wall(): WallClock {
    const offset = offsetOf(this.timeZone, this.epochMs);
    const local = new Date(this.epochMs + offset * 1000);
    return {
      year: local.getUTCFullYear(),
      month: local.getUTCMonth() + 1,
      day: local.getUTCDate(),
      hour: local.getUTCHours(),
      minute: local.getUTCMinutes(),
      second: local.getUTCSeconds(),
      nanosecond: local.getUTCMilliseconds() * 1_000_000 + this.nanoseconds,
      weekday: local.getUTCDay(),
      offset,
      zone: zoneName(this.timeZone, this.epochMs, offset),
    };
  }

  format(layout: string): string {
    return formatLayout(layout, this.wall());
  }

  override text(): string {
    return this.format('2006-01-02 15:04:05.999999999 -0700 MST');
  }

  override plain(): Value {
    return this.format('2006-01-02T15:04:05.999999999Z07:00');
  }

  #unixNano(): bigint {
    return BigInt(Math.floor(this.epochMs)) * 1_000_000n + BigInt(this.nanoseconds);
  }

  override method(name: string): GoFunction<unknown> | undefined {
    const answer = (value: () => Value) => fn([], value);
    const other = (compare: (difference: bigint) => Value) =>
      fn(['struct time.Time'], (time) => compare(this.#unixNano() - (time as GoTime).#unixNano()));
    switch (name) {
      case 'Format':
        return fn(['string'], (layout) => this.format(layout));
      case 'String':
        return answer(() => this.text());
      case 'Unix':
        return answer(() => int64(this.unix()));
      case 'UnixMilli':
        return answer(() => int64(Math.floor(this.epochMs)));
      case 'UnixMicro':
        return answer(() =>
          int64(BigInt(Math.floor(this.epochMs)) * 1000n + BigInt(Math.trunc(this.nanoseconds / 1000))),
        );
      case 'UnixNano':
        return answer(() => int64(this.#unixNano()));
      case 'Year':
        return answer(() => BigInt(this.wall().year));
      case 'Month':
        return answer(() => {
          const { month } = this.wall();
          return new SizedInt('int64', BigInt(month), 'time.Month', months[month - 1]);
        });
      case 'Day':
        return answer(() => BigInt(this.wall().day));
      case 'Hour':
        return answer(() => BigInt(this.wall().hour));
      case 'Minute':
        return answer(() => BigInt(this.wall().minute));
      case 'Second':
        return answer(() => BigInt(this.wall().second));
      case 'Nanosecond':
        return answer(() => BigInt(this.wall().nanosecond));
      case 'Weekday':
        return answer(() => {
          const { weekday } = this.wall();
          return new SizedInt('int64', BigInt(weekday), 'time.Weekday', weekdays[weekday]);
        });
      case 'YearDay':
        return answer(() => {
          const { year, month, day } = this.wall();
          return BigInt(Math.round((Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 1)) / 86_400_000) + 1);
        });
      case 'UTC':
        return answer(() => this.in('UTC'));
      case 'IsZero':
        return answer(() => this.epochMs === GoTime.zero().epochMs && this.nanoseconds === 0);
      case 'Add':
        return fn(['struct time.Duration'], (size) => this.add((size as unknown as SizedInt).value));
      case 'Compare':
        return other((difference) => (difference === 0n ? 0n : difference < 0n ? -1n : 1n));
      case 'AddDate':
        return fn(['int', 'int', 'int'], (years, monthsMore, days) => this.#addDate(years, monthsMore, days));
      case 'Sub':
        return other((difference) => duration(nearest(difference)));
      case 'Before':
        return other((difference) => difference < 0n);
      case 'After':
        return other((difference) => difference > 0n);
      case 'Equal':
        return other((difference) => difference === 0n);
      default:
        return undefined;
    }
  }

  #addDate(years: bigint, monthsMore: bigint, days: bigint): GoTime {
    const { year, month, day, hour, minute, second, nanosecond } = this.wall();
    return timeAt(
      {
        year: year + Number(years),
        month: month + Number(monthsMore),
        day: day + Number(days),
        hour,
        minute,
        second,
        nanosecond,
      },
      this.timeZone,
    );
  }
}

/** The nearest there is to a duration that is too long. */
function nearest(nanoseconds: bigint): bigint {
  const cut = BigInt.asIntN(64, nanoseconds);
  if (cut === nanoseconds) return cut;
  return nanoseconds < 0n ? -(1n << 63n) : (1n << 63n) - 1n;
}

/** The moment a wall clock of a zone shows; months and days may overflow. */
export function timeAt(wall: Omit<WallClock, 'weekday' | 'offset' | 'zone'>, timeZone: string | FixedZone): GoTime {
  const date = new Date(0);
  date.setUTCFullYear(wall.year, wall.month - 1, wall.day);
  date.setUTCHours(wall.hour, wall.minute, wall.second, Math.floor(wall.nanosecond / 1_000_000));
  const asUtc = date.getTime();
  const guess = asUtc - offsetOf(timeZone, asUtc) * 1000;
  return new GoTime(asUtc - offsetOf(timeZone, guess) * 1000, timeZone, wall.nanosecond % 1_000_000);
}

/** Whether there is such a zone. */
export function isTimeZone(name: string): boolean {
  if (!isWrittenAsFile(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    formatters.set(timeZone, formatter);
  }
  return formatter;
}

function offsetOf(timeZone: string | FixedZone, epochMs: number): number {
  if (typeof timeZone !== 'string') return timeZone.offset;
  if (timeZone === 'UTC') return 0;
  const shown = formatterOf(timeZone)
    .formatToParts(epochMs)
    .find(({ type }) => type === 'timeZoneName')!.value;
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(shown);
  if (!match?.[1]) return 0;
  const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === '-' ? -seconds : seconds;
}

function zoneName(timeZone: string | FixedZone, epochMs: number, offset: number): string {
  if (timeZone === 'UTC') return 'UTC';
  if (typeof timeZone !== 'string') return timeZone.name === '' ? offsetText(offset, true) : timeZone.name;
  const known = shortZoneName(timeZone, offset);
  if (known !== undefined) return known === '' ? offsetText(offset, false) : known;
  // Each English knows the names of its own part of the world.
  for (const locale of ['en-US', 'en-GB', 'en-AU', 'en-IN']) {
    const short = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' })
      .formatToParts(epochMs)
      .find(({ type }) => type === 'timeZoneName')!.value;
    if (/^[A-Z]{2,5}$/.test(short)) return short;
  }
  return offsetText(offset, false);
}

function offsetText(offset: number, hasMinutes: boolean): string {
  const hours = Math.trunc(Math.abs(offset) / 3600);
  const minutes = Math.trunc((Math.abs(offset) % 3600) / 60);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(hours)}${hasMinutes || minutes > 0 ? two(minutes) : ''}`;
}
