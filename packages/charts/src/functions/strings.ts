import { byteLength, runes, sliceBytes, textToBytes } from '../go/bytes.ts';
import { show, sprintf } from '../go/format.ts';
import { quote as goQuote } from '../go/quote.ts';
import { strings, typed, type Value } from '../go/values.ts';
import { longestText, type FunctionTable, type TemplateFunction } from '../template/run.ts';
import { fn, inRun, variadic } from '../template/signature.ts';
import { toText, toTextList, toTexts } from './convert.ts';
import { environmentOf } from './environment.ts';
import {
  kebabCase,
  lowerRune,
  mapRunes,
  pascalCase,
  snakeCase,
  swapCase,
  titleCase,
  uncapitalise,
  upperRune,
} from './letter-case.ts';
import { abbreviate, abbreviateBoth, wrapText } from './abbreviate.ts';

function repeat(count: bigint, text: string): string {
  if (count < 0n) throw new Error('strings: negative Repeat count');
  if (BigInt(text.length) * count > BigInt(longestText)) throw new Error('strings: Repeat output length overflow');
  return text.repeat(Number(count));
}

function indent(spaces: bigint, text: string): string {
  const pad = repeat(spaces, ' ');
  return pad + text.replaceAll('\n', `\n${pad}`);
}

function trunc(count: bigint, text: string): string {
  const size = byteLength(text);
  const limit = Number(count);
  if (limit < 0 && size + limit > 0) return sliceBytes(text, size + limit);
  return limit >= 0 && size > limit ? sliceBytes(text, 0, limit) : text;
}

function substring(start: bigint, end: bigint, text: string): string {
  const size = byteLength(text);
  const from = Number(start);
  const to = Number(end);
  const isWhole = to < 0 || to > size;
  const fail = (range: string): never => {
    throw new Error(`runtime error: slice bounds out of range ${range}`);
  };
  if (from < 0) {
    if (isWhole) fail(to < 0 ? `[:${to}]` : `[:${to}] with length ${size}`);
    return sliceBytes(text, 0, to);
  }
  const stop = isWhole ? size : to;
  if (from > stop) fail(`[${from}:${stop}]`);
  return sliceBytes(text, from, stop);
}

function trimSet(text: string, cutset: string): string {
  const set = new Set(cutset);
  const chars = runes(text);
  let start = 0;
  let end = chars.length;
  while (start < end && set.has(chars[start]!)) start += 1;
  while (end > start && set.has(chars[end - 1]!)) end -= 1;
  return chars.slice(start, end).join('');
}

/** Go's `strings.TrimSpace`: JavaScript's also takes the byte order mark, Go's takes NEL. */
function trimSpace(text: string): string {
  return text.replace(
    /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g,
    '',
  );
}

/** Go's `strings.Split`; an empty separator cuts between characters. */
function splitText(text: string, separator: string, limit = -1): string[] {
  if (limit === 0) return [];
  const parts = separator === '' ? runes(text) : text.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function numbered(parts: readonly string[]): Value {
  return typed(new Map<string, Value>(parts.map((part, index) => [`_${index}`, part])), 'map[string]string');
}

function present(values: readonly Value[]): Value[] {
  return values.filter((value) => value !== null && value !== undefined);
}

function random(alphabet: string): TemplateFunction {
  return inRun(['int'], (run, count) => {
    if (count < 0n) return '';
    if (count > 1_000_000n) throw new Error(`a random text of ${count} characters is too long`);
    const { randomBytes } = environmentOf(run);
    // Bytes beyond the last whole multiple of the alphabet would make its first letters likelier.
    const fair = 256 - (256 % alphabet.length);
    let text = '';
    while (text.length < Number(count)) {
      for (const byte of randomBytes(Number(count) - text.length)) {
        if (byte < fair) text += alphabet[byte % alphabet.length];
      }
    }
    return text;
  });
}

const digits = '0123456789';
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');

/** Sprig takes each byte for a character here, too. */
function initials(text: string): string {
  let afterSpace = true;
  let result = '';
  for (const byte of textToBytes(text)) {
    const isGap = isByteSpace(byte);
    if (afterSpace && !isGap) result += String.fromCharCode(byte);
    afterSpace = isGap;
  }
  return result;
}

function isByteSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x85 || byte === 0xa0;
}

/** Sprig takes each byte for a character as soon as there is a space to take out; what is not ASCII suffers. */
function withoutSpace(text: string): string {
  const bytes = textToBytes(text);
  const kept = bytes.filter((byte) => !isByteSpace(byte));
  return kept.length === bytes.length ? text : Buffer.from(kept).toString('latin1');
}

/** Without the bound, joining a long list with a long text takes gigabytes before it fails. */
function join(texts: readonly string[], separator: string): string {
  const length = texts.reduce((sum, text) => sum + text.length, separator.length * Math.max(0, texts.length - 1));
  if (length > longestText) throw new Error(`a text of ${length} characters is too long`);
  return texts.join(separator);
}

export const stringFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['hello', fn([], () => 'Hello!')],
  ['abbrev', fn(['int', 'string'], (width, text) => (width < 4n ? text : abbreviate(text, Number(width))))],
  [
    'abbrevboth',
    fn(['int', 'int', 'string'], (left, right, text) =>
      right < 4n || (left > 0n && right < 7n) ? text : abbreviateBoth(text, Number(left), Number(right)),
    ),
  ],
  ['trunc', fn(['int', 'string'], trunc)],
  ['trim', fn(['string'], trimSpace)],
  ['upper', fn(['string'], (text) => mapRunes(text, upperRune))],
  ['lower', fn(['string'], (text) => mapRunes(text, lowerRune))],
  ['title', fn(['string'], titleCase)],
  ['untitle', fn(['string'], uncapitalise)],
  ['substr', fn(['int', 'int', 'string'], substring)],
  ['repeat', fn(['int', 'string'], repeat)],
  ['trimall', fn(['string', 'string'], (set, text) => trimSet(text, set))],
  ['trimAll', fn(['string', 'string'], (set, text) => trimSet(text, set))],
  [
    'trimSuffix',
    fn(['string', 'string'], (suffix, text) =>
      suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text,
    ),
  ],
  [
    'trimPrefix',
    fn(['string', 'string'], (prefix, text) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  ],
  ['nospace', fn(['string'], withoutSpace)],
  ['initials', fn(['string'], initials)],
  ['randAlphaNum', random(digits + letters)],
  ['randAlpha', random(letters)],
  ['randAscii', random(ascii)],
  ['randNumeric', random(digits)],
  ['swapcase', fn(['string'], swapCase)],
  [
    'shuffle',
    inRun(['string'], (run, text) => {
      const chars = runes(text);
      run.step(chars.length);
      for (let i = chars.length - 1; i > 0; i -= 1) {
        const j = Math.floor(environmentOf(run).random.next() * (i + 1));
        [chars[i], chars[j]] = [chars[j]!, chars[i]!];
      }
      return chars.join('');
    }),
  ],
  ['snakecase', fn(['string'], snakeCase)],
  ['camelcase', fn(['string'], pascalCase)],
  ['kebabcase', fn(['string'], kebabCase)],
  ['wrap', fn(['int', 'string'], (width, text) => wrapText(text, Number(width), '\n', false))],
  [
    'wrapWith',
    fn(['int', 'string', 'string'], (width, lineBreak, text) => wrapText(text, Number(width), lineBreak, true)),
  ],
  ['contains', fn(['string', 'string'], (part, text) => text.includes(part))],
  ['hasPrefix', fn(['string', 'string'], (prefix, text) => text.startsWith(prefix))],
  ['hasSuffix', fn(['string', 'string'], (suffix, text) => text.endsWith(suffix))],
  [
    'quote',
    variadic([], 'any', (...values) =>
      present(values)
        .map((value) => goQuote(toText(value)))
        .join(' '),
    ),
  ],
  [
    'squote',
    variadic([], 'any', (...values) =>
      present(values)
        .map((value) => `'${show(value)}'`)
        .join(' '),
    ),
  ],
  [
    'cat',
    variadic([], 'any', (...values) => {
      const kept = present(values);
      return sprintf(Array(kept.length).fill('%v').join(' '), kept);
    }),
  ],
  ['indent', fn(['int', 'string'], indent)],
  ['nindent', fn(['int', 'string'], (spaces, text) => `\n${indent(spaces, text)}`)],
  ['replace', fn(['string', 'string', 'string'], (old, by, text) => replaceAll(text, old, by))],
  ['plural', fn(['string', 'string', 'int'], (one, many, count) => (count === 1n ? one : many))],
  ['toString', fn(['any'], toText)],
  ['toStrings', fn(['any'], toTextList)],
  ['join', fn(['string', 'any'], (separator, list) => join(toTexts(list), separator))],
  ['split', fn(['string', 'string'], (separator, text) => numbered(splitText(text, separator)))],
  ['splitList', fn(['string', 'string'], (separator, text) => strings(splitText(text, separator)))],
  [
    'splitn',
    fn(['string', 'int', 'string'], (separator, count, text) => numbered(splitText(text, separator, Number(count)))),
  ],
]);

function replaceAll(text: string, old: string, by: string): string {
  if (old !== '') return text.replaceAll(old, () => by);
  return `${by}${runes(text)
    .map((char) => char + by)
    .join('')}`;
}
