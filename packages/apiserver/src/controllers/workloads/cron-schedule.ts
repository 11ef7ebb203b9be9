/** A parsed cron expression. Minutes are the finest unit. */
export interface CronSchedule {
  /** The first time after `afterMs` (epoch milliseconds) that matches, or `undefined` when none comes within five years. */
  next(afterMs: number): number | undefined;
}

const MACROS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MINUTE = 60_000;
const HORIZON_MS = 5 * 366 * 24 * 60 * MINUTE;

interface Field {
  readonly values: ReadonlySet<number>;
  /** Written as `*` or `?`: with the other day field restricted, this one does not count. */
  readonly any: boolean;
}

/** Parses five fields or a macro such as `@hourly`, in a time zone (IANA name, default UTC). Throws on bad input. */
export function parseCronSchedule(text: string, timeZone: string = 'UTC'): CronSchedule {
  const fields = (MACROS[text.trim().toLowerCase()] ?? text.trim()).split(/\s+/);
  const every = /^@every (.+)$/.exec(text.trim());
  if (every) {
    return everySchedule(every[1]!);
  }
  if (fields.length !== 5) {
    throw new Error(`expected exactly 5 fields, found ${fields.length}: [${text}]`);
  }
  const [minute, hour, day, month, weekday] = [
    parseField(fields[0]!, 0, 59),
    parseField(fields[1]!, 0, 23),
    parseField(fields[2]!, 1, 31),
    parseField(fields[3]!, 1, 12, MONTHS, 1),
    parseField(fields[4]!, 0, 7, WEEKDAYS, 0),
  ] as const;
  const localTime = localTimeIn(timeZone);

  const dayMatches = (local: LocalTime): boolean => {
    const byDay = day.values.has(local.day);
    const byWeekday = weekday.values.has(local.weekday) || (local.weekday === 0 && weekday.values.has(7));
    return day.any || weekday.any ? byDay && byWeekday : byDay || byWeekday;
  };

  return {
    next(afterMs) {
      let time = Math.floor(afterMs / MINUTE) * MINUTE + MINUTE;
      const limit = afterMs + HORIZON_MS;
      while (time <= limit) {
        const local = localTime(time);
        if (!month.values.has(local.month) || !dayMatches(local)) {
          // To the next local midnight; a clock change on the way costs at most a repeated look.
          time += Math.max(MINUTE, (24 * 60 - local.hour * 60 - local.minute) * MINUTE - 60 * MINUTE);
          const after = localTime(time);
          if (after.hour === 23) {
            time += (60 - after.minute) * MINUTE;
          }
        } else if (!hour.values.has(local.hour)) {
          time += (60 - local.minute) * MINUTE;
        } else if (!minute.values.has(local.minute)) {
          time += MINUTE;
        } else {
          return time;
        }
      }
      return undefined;
    },
  };
}

function everySchedule(text: string): CronSchedule {
  const units: Record<string, number> = { s: 1_000, m: MINUTE, h: 60 * MINUTE };
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(s|m|h)/g)];
  const ms = parts.reduce((total, [, number, unit]) => total + Number(number) * units[unit!]!, 0);
  if (ms <= 0) {
    throw new Error(`failed to parse duration @every ${text}`);
  }
  return { next: (afterMs) => Math.floor(afterMs / 1_000) * 1_000 + Math.max(1_000, ms) };
}

function parseField(text: string, low: number, high: number, names: string[] = [], nameBase = 0): Field {
  const number = (part: string): number => {
    const named = names.indexOf(part.toLowerCase());
    const value = named >= 0 ? named + nameBase : Number(part);
    if (!Number.isInteger(value) || part === '') {
      throw new Error(`failed to parse int from ${part}`);
    }
    if (value < low || value > high) {
      throw new Error(`${value} is outside the range ${low} to ${high}: ${text}`);
    }
    return value;
  };
  const values = new Set<number>();
  let any = false;
  for (const part of text.split(',')) {
    const [range, stepText] = part.split('/') as [string, string | undefined];
    const step = stepText === undefined ? 1 : Number(stepText);
    if (!Number.isInteger(step) || step < 1) {
      throw new Error(`step of range should be a positive number: ${part}`);
    }
    let from: number;
    let to: number;
    if (range === '*' || range === '?') {
      [from, to] = [low, high];
      any ||= stepText === undefined || step === 1;
    } else if (range.includes('-')) {
      const [first, last] = range.split('-') as [string, string];
      [from, to] = [number(first), number(last)];
    } else {
      from = number(range);
      to = stepText === undefined ? from : high;
    }
    if (from > to) {
      throw new Error(`beginning of range (${from}) beyond end of range (${to}): ${part}`);
    }
    for (let value = from; value <= to; value += step) {
      values.add(value);
    }
  }
  return { values, any };
}

interface LocalTime {
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

function localTimeIn(timeZone: string): (epochMs: number) => LocalTime {
  if (timeZone === 'UTC' || timeZone === 'Etc/UTC') {
    return (epochMs) => {
      const date = new Date(epochMs);
      return {
        month: date.getUTCMonth() + 1,
        day: date.getUTCDate(),
        weekday: date.getUTCDay(),
        hour: date.getUTCHours(),
        minute: date.getUTCMinutes(),
      };
    };
  }
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    month: 'numeric',
    day: 'numeric',
    weekday: 'short',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (epochMs) => {
    const parts = Object.fromEntries(format.formatToParts(epochMs).map((part) => [part.type, part.value]));
    return {
      month: Number(parts['month']),
      day: Number(parts['day']),
      weekday: WEEKDAYS.indexOf(String(parts['weekday']).toLowerCase()),
      hour: Number(parts['hour']),
      minute: Number(parts['minute']),
    };
  };
}
