import { months, weekdays, type WallClock } from './wall-clock.ts';
import { quoteTime } from './time-quote.ts';

/** Go's layouts: how "Mon Jan 2 15:04:05 MST 2006" would be written. */

const token =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|[.,]0+(?!\d)|[.,]9+(?!\d)|002|01|02|03|04|05|06|15|PM|pm|__2|_2(?!006)|1|2|3|4|5/g;

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

export interface ParsedTime extends Omit<WallClock, 'weekday' | 'zone' | 'offset'> {
  /** Seconds east of UTC, where the text says so. */
  readonly offset: number | undefined;
  /** What the text calls the zone. */
  readonly zone: string;
}

type Fields = { -readonly [K in keyof ParsedTime]: ParsedTime[K] };

/** Reads a text by a layout; throws what Go would say. */
export function parseLayout(layout: string, text: string): ParsedTime {
  return new LayoutReader(layout, text).read();
}

class LayoutReader {
  readonly #layout: string;
  readonly #text: string;
  #rest: string;
  #month: number | undefined;
  #day: number | undefined;
  #yearDay: number | undefined;
  #afternoon: boolean | undefined;
  /** What a part has that it may not have; Go says so after the part. */
  #outOfRange = '';
  readonly #fields: Fields = {
    year: 0,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    offset: undefined,
    zone: '',
  };

  constructor(layout: string, text: string) {
    this.#layout = layout;
    this.#text = text;
    this.#rest = text;
  }

  read(): ParsedTime {
    let at = 0;
    for (const match of this.#layout.matchAll(token)) {
      this.#skip(this.#layout.slice(at, match.index));
      at = match.index + match[0].length;
      this.#part(match[0], this.#layout.slice(at));
      if (this.#outOfRange !== '') this.#wrong(`${this.#outOfRange} out of range`);
    }
    this.#skip(this.#layout.slice(at));
    if (this.#rest !== '') this.#wrong(`extra text: ${quoteTime(this.#rest)}`);
    const fields = this.#fields;
    if (this.#afternoon === true && fields.hour < 12) fields.hour += 12;
    if (this.#afternoon === false && fields.hour === 12) fields.hour = 0;
    this.#settleDay();
    return fields;
  }

  #wrong(what: string): never {
    throw new Error(`parsing time ${quoteTime(this.#text)}: ${what}`);
  }

  #fail(part: string): never {
    throw new Error(
      `parsing time ${quoteTime(this.#text)} as ${quoteTime(this.#layout)}: cannot parse ${quoteTime(this.#rest)} as ${quoteTime(part)}`,
    );
  }

  /** Any number of spaces stands for any other. */
  #skip(literal: string): void {
    for (const piece of literal.match(/ +|[^ ]/gu) ?? []) {
      if (piece[0] === ' ') {
        if (this.#rest !== '' && this.#rest[0] !== ' ') this.#fail(literal);
        this.#rest = this.#rest.replace(/^ +/, '');
      } else if (this.#rest.startsWith(piece)) this.#rest = this.#rest.slice(piece.length);
      else this.#fail(literal);
    }
  }

  #take(pattern: RegExp, part: string): string {
    const match = pattern.exec(this.#rest);
    if (!match) return this.#fail(part);
    this.#rest = this.#rest.slice(match[0].length);
    return match[0];
  }

  #number(part: string, isFixed: boolean, from: number, to: number, what: string): number {
    const number = Number(this.#take(isFixed ? /^\d\d/ : /^\d{1,2}/, part));
    if (number < from || number > to) this.#outOfRange = what;
    return number;
  }

  #named(names: readonly string[], part: string): number {
    const index = names.findIndex((name) => this.#rest.toLowerCase().startsWith(name.toLowerCase()));
    if (index < 0) this.#fail(part);
    this.#rest = this.#rest.slice(names[index]!.length);
    return index;
  }

  #part(part: string, following: string): void {
    const fields = this.#fields;
    switch (part) {
      case 'January':
        this.#month = this.#named(months, part) + 1;
        return;
      case 'Jan':
        this.#month = this.#named(shortened(months), part) + 1;
        return;
      case 'Monday':
        this.#named(weekdays, part);
        return;
      case 'Mon':
        this.#named(shortened(weekdays), part);
        return;
      case '2006':
        fields.year = Number(this.#take(/^\d{4}/, part));
        return;
      case '06': {
        const year = Number(this.#take(/^\d\d/, part));
        fields.year = year >= 69 ? 1900 + year : 2000 + year;
        return;
      }
      case '01':
      case '1':
        this.#month = this.#number(part, part === '01', 1, 12, 'month');
        return;
      case '02':
      case '2':
        this.#day = this.#number(part, part === '02', 0, 99, 'day');
        return;
      case '_2':
        this.#rest = this.#rest.replace(/^ /, '');
        this.#day = this.#number(part, false, 0, 99, 'day');
        return;
      case '002':
        this.#yearDay = Number(this.#take(/^\d{3}/, part));
        return;
      case '__2':
        this.#rest = this.#rest.replace(/^ {1,2}/, '');
        this.#yearDay = Number(this.#take(/^\d{1,3}/, part));
        return;
      case '15':
        fields.hour = this.#number(part, false, 0, 23, 'hour');
        return;
      case '03':
      case '3':
        fields.hour = this.#number(part, part === '03', 0, 12, 'hour');
        return;
      case '04':
      case '4':
        fields.minute = this.#number(part, part === '04', 0, 59, 'minute');
        return;
      case '05':
      case '5': {
        fields.second = this.#number(part, part === '05', 0, 59, 'second');
        // A fraction may follow the seconds even where the layout has none.
        const fraction = /^[.,](\d+)/.exec(this.#rest);
        if (fraction && !/^[.,][09]/.test(following)) {
          fields.nanosecond = nanoseconds(fraction[1]!);
          this.#rest = this.#rest.slice(fraction[0].length);
        }
        return;
      }
      case 'PM':
        this.#afternoon = this.#take(/^[AP]M/, part) === 'PM';
        return;
      case 'pm':
        this.#afternoon = this.#take(/^[ap]m/, part) === 'pm';
        return;
      case 'MST':
        fields.zone = this.#take(zonePattern, part);
        if (fields.zone === 'UTC') fields.offset = 0;
        return;
    }
    if (part.startsWith('Z') || part.startsWith('-')) this.#offset(part);
    else {
      // `.999` takes what there is, or nothing.
      const fraction = part[1] === '9' ? /^(?:[.,]\d+|)/ : new RegExp(`^[.,]\\d{${part.length - 1}}`);
      fields.nanosecond = nanoseconds(this.#take(fraction, part).slice(1));
    }
  }

  #offset(part: string): void {
    const colon = part.includes(':') ? ':' : '';
    const digits = part.replace(/\D/g, '').length;
    const body = `[+-]\\d\\d${digits > 2 ? `${colon}\\d\\d` : ''}${digits >= 6 ? `${colon}\\d\\d` : ''}`;
    const found = this.#take(new RegExp(part.startsWith('Z') ? `^(?:Z|${body})` : `^${body}`), part);
    if (found === 'Z') {
      this.#fields.offset = 0;
      this.#fields.zone = 'UTC';
      return;
    }
    const [hours = 0, minutes = 0, seconds = 0] = (found.replace(/\D/g, '').match(/\d\d/g) ?? []).map(Number);
    if (hours > 24) this.#outOfRange = 'time zone offset hour';
    else if (minutes > 60) this.#outOfRange = 'time zone offset minute';
    else if (seconds > 60) this.#outOfRange = 'time zone offset second';
    const size = hours * 3600 + minutes * 60 + seconds;
    this.#fields.offset = found.startsWith('-') ? -size : size;
  }

  #settleDay(): void {
    const fields = this.#fields;
    if (this.#yearDay === undefined) {
      fields.month = this.#month ?? 1;
      fields.day = this.#day ?? 1;
    } else {
      const date = new Date(0);
      date.setUTCFullYear(fields.year, 0, this.#yearDay);
      if (this.#yearDay < 1 || date.getUTCFullYear() !== fields.year) this.#wrong('day-of-year out of range');
      fields.month = date.getUTCMonth() + 1;
      fields.day = date.getUTCDate();
      if (this.#month !== undefined && this.#month !== fields.month) this.#wrong('day-of-year does not match month');
      if (this.#day !== undefined && this.#day !== fields.day) this.#wrong('day-of-year does not match day');
    }
    const last = new Date(0);
    last.setUTCFullYear(fields.year, fields.month, 0);
    if (fields.day < 1 || fields.day > last.getUTCDate()) this.#wrong('day out of range');
  }
}

/** The names Go takes for a zone: three capitals, four or five that end as names of zones do, and offsets. */
const zonePattern =
  /^(?:ChST|MeST|GMT[+-]\d{1,2}(?!\d)|[+-]\d\d(?!\d)|[A-Z]{4}T(?![A-Z])|(?:[A-Z]{3}T|WITA)(?![A-Z])|[A-Z]{3}(?![A-Z]))/;

function shortened(names: readonly string[]): string[] {
  return names.map((name) => name.slice(0, 3));
}

function nanoseconds(digits: string): number {
  return Number(digits.slice(0, 9).padEnd(9, '0'));
}
