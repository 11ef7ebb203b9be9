import { isIPv4, isIPv6 } from 'node:net';
import { dnsLabel, dnsSubdomain } from '../kinds/names.ts';

type Check = (value: string) => boolean;

const hexadecimal = '[0-9a-fA-F]';
const uuid = (third: string, fourth: string): RegExp =>
  new RegExp(`^${hexadecimal}{8}-?${hexadecimal}{4}-?${third}-?${fourth}-?${hexadecimal}{12}$`);
const anyUuid = uuid(`${hexadecimal}{4}`, `${hexadecimal}{4}`);
const uuid3 = uuid(`3${hexadecimal}{3}`, `${hexadecimal}{4}`);
const uuid4 = uuid(`4${hexadecimal}{3}`, `[89abAB]${hexadecimal}{3}`);
const uuid5 = uuid(`5${hexadecimal}{3}`, `[89abAB]${hexadecimal}{3}`);

const matches =
  (pattern: RegExp): Check =>
  (value) =>
    pattern.test(value);

/** Every format the server checks, by its name without dashes; all others are accepted and not looked at. */
const formats: Readonly<Record<string, Check>> = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  uri: (value) => /^[a-zA-Z][a-zA-Z0-9+.-]*:\S+$/.test(value) || /^\/\S*$/.test(value),
  email: matches(/^[^\s@<>()[\]]+@[^\s@<>()[\]]+$/),
  hostname: (value) =>
    value.length <= 255 &&
    value.split('.').every((label) => label.length <= 63) &&
    /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u.test(
      value,
    ),
  ipv4: (value) => isIPv4(value),
  ipv6: (value) => isIPv6(value) && !value.includes('%'),
  cidr: (value) => {
    const [address, bits, ...more] = value.split('/');
    if (more.length > 0 || !/^\d{1,3}$/.test(bits ?? '')) return false;
    return isIPv4(address!) ? Number(bits) <= 32 : isIPv6(address!) && Number(bits) <= 128;
  },
  mac: matches(
    /^(?:(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1){4,6}[0-9a-fA-F]{2}|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2,3})$/,
  ),
  uuid: matches(anyUuid),
  uuid3: matches(uuid3),
  uuid4: matches(uuid4),
  uuid5: matches(uuid5),
  isbn: (value) => isbn10(value) || isbn13(value),
  isbn10,
  isbn13,
  creditcard: (value) => /^[\d -]{13,23}$/.test(value) && luhn(value.replace(/\D/g, '')),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(
    /^rgb\(\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/,
  ),
  byte: (value) => value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (value) => dnsLabel(value).length === 0,
  k8slongname: (value) => dnsSubdomain(value).length === 0,
};

/** Whether `value` has the format; `true` for formats nobody checks. */
export function hasFormat(value: string, format: string): boolean {
  return formats[format.replaceAll('-', '')]?.(value) ?? true;
}

/** Whether the server knows a format for strings. */
export function isKnownFormat(format: string): boolean {
  return Object.hasOwn(formats, format.replaceAll('-', ''));
}

function isDate(value: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  if (!parts) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCFullYear(year);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(value: string): boolean {
  const parts = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,]\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})?$/.exec(value);
  return parts !== null && isDate(parts[1]!) && Number(parts[2]) < 24 && Number(parts[3]) < 60 && Number(parts[4]) < 60;
}

/** `1h30m`, and the looser `3 weeks` the real server takes as well. */
function isDuration(value: string): boolean {
  return (
    /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(value) ||
    /^(?:\d+\s*(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?))+$/i.test(
      value.trim(),
    )
  );
}

function isbn10(value: string): boolean {
  const digits = value.replace(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isbn13(value: string): boolean {
  const digits = value.replace(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return sum % 10 === 0;
}

function luhn(digits: string): boolean {
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return digits.length > 0 && sum % 10 === 0;
}
