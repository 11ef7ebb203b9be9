import { quote } from '../go/quote.ts';
import { months, weekdays, type WallClock } from './wall-clock.ts';

/** Go's layouts: how "Mon Jan 2 15:04:05 MST 2006" would be written. */

const token =
  /January|Jan|Monday|Mon|MST|2006|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|[.,]0+(?!\d)|[.,]9+(?!\d)|002|01|02|03|04|05|06|15|PM|pm|__2|_2(?!006)|1|2|3|4|5/g;

export function formatLayout(layout: string, wall: WallClock): string {
  return layout.replace(token, (part) => formatPart(part, wall));
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

function yearDay({ year, month, day }: WallClock): number {
  return Math.round((Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 1)) / 86_400_000) + 1;
}

function formatPart(part: string, wall: WallClock): string {
  const hour12 = wall.hour % 12 === 0 ? 12 : wall.hour % 12;
  switch (part) {
    case 'January':
      return months[wall.month - 1]!;
    case 'Jan':
      return months[wall.month - 1]!.slice(0, 3);
    case '01':
      return two(wall.month);
    case '1':
      return String(wall.month);
    case 'Monday':
      return weekdays[wall.weekday]!;
    case 'Mon':
      return weekdays[wall.weekday]!.slice(0, 3);
    case '02':
      return two(wall.day);
    case '_2':
      return String(wall.day).padStart(2, ' ');
    case '2':
      return String(wall.day);
    case '002':
      return String(yearDay(wall)).padStart(3, '0');
    case '__2':
      return String(yearDay(wall)).padStart(3, ' ');
    case '15':
      return two(wall.hour);
    case '03':
      return two(hour12);
    case '3':
      return String(hour12);
    case '04':
      return two(wall.minute);
    case '4':
      return String(wall.minute);
    case '05':
      return two(wall.second);
    case '5':
      return String(wall.second);
    case '2006':
      return String(wall.year).padStart(4, '0');
    case '06':
      return two(wall.year % 100);
    case 'PM':
      return wall.hour >= 12 ? 'PM' : 'AM';
    case 'pm':
      return wall.hour >= 12 ? 'pm' : 'am';
    case 'MST':
      return wall.zone;
  }
  if (part.startsWith('Z') || part.startsWith('-')) return formatOffset(part, wall.offset);
  return formatFraction(part, wall.nanosecond);
}

function formatOffset(part: string, offset: number): string {
  if (part.startsWith('Z') && offset === 0) return 'Z';
  const size = Math.abs(offset);
  const colon = part.includes(':') ? ':' : '';
  const hours = two(Math.trunc(size / 3600));
  const minutes = two(Math.trunc((size % 3600) / 60));
  const digits = part.replace(/\D/g, '').length;
  const seconds = digits >= 6 ? colon + two(size % 60) : '';
  return (offset < 0 ? '-' : '+') + hours + (digits > 2 ? colon + minutes : '') + seconds;
}

function formatFraction(part: string, nanosecond: number): string {
  const digits = String(nanosecond)
    .padStart(9, '0')
    .slice(0, part.length - 1);
  if (part[1] === '0') return part[0] + digits;
  const short = digits.replace(/0+$/, '');
  return short === '' ? '' : part[0] + short;
}

type Parsed = Omit<WallClock, 'weekday' | 'zone' | 'offset'> & { offset: number | undefined };

/** Reads a text by a layout; throws roughly what Go would say. */
export function parseLayout(layout: string, text: string): Parsed {
  const parsed: { -readonly [K in keyof Parsed]: Parsed[K] } = {
    year: 0,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    offset: undefined,
  };
  let afternoon: boolean | undefined;
  let rest = text;
  const fail = (part: string): never => {
    throw new Error(`parsing time ${quote(text)} as ${quote(layout)}: cannot parse ${quote(rest)} as ${quote(part)}`);
  };
  const take = (pattern: RegExp, part: string): string => {
    const match = pattern.exec(rest);
    if (!match) return fail(part);
    rest = rest.slice(match[0].length);
    return match[0];
  };
  const named = (names: readonly string[], part: string): number => {
    const index = names.findIndex((name) => rest.toLowerCase().startsWith(name.toLowerCase()));
    if (index < 0) fail(part);
    rest = rest.slice(names[index]!.length);
    return index;
  };
  const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3));
  const read = (part: string): void => {
    switch (part) {
      case 'January':
        parsed.month = named(months, part) + 1;
        return;
      case 'Jan':
        parsed.month = named(short(months), part) + 1;
        return;
      case 'Monday':
        named(weekdays, part);
        return;
      case 'Mon':
        named(short(weekdays), part);
        return;
      case '2006':
        parsed.year = Number(take(/^\d{4}/, part));
        return;
      case '06': {
        const year = Number(take(/^\d\d/, part));
        parsed.year = year >= 69 ? 1900 + year : 2000 + year;
        return;
      }
      case '01':
        parsed.month = Number(take(/^\d\d/, part));
        return;
      case '1':
        parsed.month = Number(take(/^\d{1,2}/, part));
        return;
      case '02':
        parsed.day = Number(take(/^\d\d/, part));
        return;
      case '_2':
      case '2':
        parsed.day = Number(take(/^ ?\d{1,2}/, part));
        return;
      case '15':
      case '03':
        parsed.hour = Number(take(/^\d\d/, part));
        return;
      case '3':
        parsed.hour = Number(take(/^\d{1,2}/, part));
        return;
      case '04':
        parsed.minute = Number(take(/^\d\d/, part));
        return;
      case '4':
        parsed.minute = Number(take(/^\d{1,2}/, part));
        return;
      case '05':
      case '5': {
        parsed.second = Number(take(part === '05' ? /^\d\d/ : /^\d{1,2}/, part));
        // A fraction may follow the seconds even where the layout has none.
        const fraction = /^[.,](\d+)/.exec(rest);
        if (fraction && !/^[.,][09]/.test(following)) {
          parsed.nanosecond = Number(fraction[1]!.slice(0, 9).padEnd(9, '0'));
          rest = rest.slice(fraction[0].length);
        }
        return;
      }
      case 'PM':
      case 'pm':
        afternoon = take(/^(AM|PM|am|pm)/, part).toLowerCase() === 'pm';
        return;
      case 'MST':
        if (take(/^(?:[A-Z]{3,4}|[+-]\d{2,4})/, part) === 'UTC') parsed.offset = 0;
        return;
    }
    if (part.startsWith('Z') || part.startsWith('-')) parsed.offset = readOffset(part, take);
    else if (/^[.,]/.test(part)) {
      const fraction = part[1] === '9' ? /^[.,]\d+|^/ : new RegExp(`^[.,]\\d{${part.length - 1}}`);
      parsed.nanosecond = Number(take(fraction, part).slice(1, 10).padEnd(9, '0'));
    } else fail(part);
  };
  let following = '';
  let at = 0;
  for (const match of layout.matchAll(token)) {
    const literal = layout.slice(at, match.index);
    if (!rest.startsWith(literal)) fail(literal);
    rest = rest.slice(literal.length);
    at = match.index + match[0].length;
    following = layout.slice(at);
    read(match[0]);
  }
  const tail = layout.slice(at);
  if (!rest.startsWith(tail)) fail(tail);
  rest = rest.slice(tail.length);
  if (rest !== '') throw new Error(`parsing time ${quote(text)}: extra text: ${quote(rest)}`);
  if (afternoon === true && parsed.hour < 12) parsed.hour += 12;
  if (afternoon === false && parsed.hour === 12) parsed.hour = 0;
  checkRanges(parsed, text);
  return parsed;
}

function readOffset(part: string, take: (pattern: RegExp, part: string) => string): number {
  const colon = part.includes(':') ? ':' : '';
  const digits = part.replace(/\D/g, '').length;
  const body = `[+-]\\d\\d${digits > 2 ? `${colon}\\d\\d` : ''}${digits >= 6 ? `${colon}\\d\\d` : ''}`;
  const found = take(new RegExp(part.startsWith('Z') ? `^(?:Z|${body})` : `^${body}`), part);
  if (found === 'Z') return 0;
  const [hours = 0, minutes = 0, seconds = 0] = (found.replace(/\D/g, '').match(/\d\d/g) ?? []).map(Number);
  const size = hours * 3600 + minutes * 60 + seconds;
  return found.startsWith('-') ? -size : size;
}

function checkRanges(parsed: Parsed, text: string): void {
  const out = (what: string): never => {
    throw new Error(`parsing time ${quote(text)}: ${what} out of range`);
  };
  if (parsed.month < 1 || parsed.month > 12) out('month');
  if (parsed.hour > 23) out('hour');
  if (parsed.minute > 59) out('minute');
  if (parsed.second > 59) out('second');
  const last = new Date(0);
  last.setUTCFullYear(parsed.year, parsed.month, 0);
  if (parsed.day < 1 || parsed.day > last.getUTCDate()) out('day');
}
