import { isIP } from 'node:net';
import type { FieldError } from '../api-error.ts';
import type { JsonObject } from '../object.ts';
import { duplicate, invalidValue, notSupported, required, tooLong } from './field-errors.ts';
import { asText } from './json-access.ts';
import { dnsSubdomain, rangeText } from './names.ts';

/** A text that has to be there and to follow a rule for names. */
export function requiredName(
  value: unknown,
  field: string,
  rule: (name: string) => string[] = dnsSubdomain,
): FieldError[] {
  return asText(value) ? givenName(value, field, rule) : [required(field)];
}

/** A text that has to follow a rule for names, also when it is empty. */
export function givenName(
  value: unknown,
  field: string,
  rule: (name: string) => string[] = dnsSubdomain,
): FieldError[] {
  return rule(asText(value)).map((text) => invalidValue(field, asText(value), text));
}

/** What a storage or device driver is called. */
export function driverName(value: unknown, field: string): FieldError[] {
  const driver = asText(value);
  return [...(driver.length > 63 ? [tooLong(field, 63)] : []), ...requiredName(driver.toLowerCase(), field)];
}

/** One of a few words. */
export function requiredWord(value: unknown, field: string, words: readonly string[]): FieldError[] {
  if (!asText(value)) return [required(field)];
  return words.includes(asText(value)) ? [] : [notSupported(field, value, words)];
}

/** Texts that have to be there. */
export function requiredTexts(parent: JsonObject, field: string, keys: readonly string[]): FieldError[] {
  return keys.filter((key) => !asText(parent[key])).map((key) => required(`${field}.${key}`));
}

/** What stands in a list for the second time. */
export function repeated(values: readonly unknown[], field: string): FieldError[] {
  const seen = new Set<unknown>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [duplicate(`${field}[${index}]`, value)];
    seen.add(value);
    return [];
  });
}

export function ipAddress(value: unknown, field: string): FieldError[] {
  return isIP(asText(value)) !== 0
    ? []
    : [invalidValue(field, asText(value), 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

export function cidr(value: unknown, field: string): FieldError[] {
  const [address = '', length = '', ...more] = asText(value).split('/');
  const family = isIP(address);
  const longest = family === 4 ? 32 : 128;
  const isCidr = family !== 0 && more.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= longest;
  return isCidr
    ? []
    : [invalidValue(field, asText(value), 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
}

export function portNumberAt(value: unknown, field: string): FieldError[] {
  const port = typeof value === 'number' ? value : 0;
  return port >= 1 && port <= 65_535 ? [] : [invalidValue(field, port, rangeText(1, 65_535))];
}
