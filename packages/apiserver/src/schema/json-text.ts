import { isBigInteger, parseExactly } from '../big-integer.ts';
import type { Json } from '../object.ts';

/** Nesting deeper than this is refused. The real server stops at 10 000; nobody writes objects even near this. */
export const maxDepth = 1_000;

/** Fields named twice are listed up to this many, as the real server does. */
const maxDuplicates = 100;

/** Characters of paths whose place is remembered. Below a key of a million characters every field has a path as long. */
const maxPathText = 4_000_000;

/** Text that is not JSON; the message is Go's. */
export class JsonSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonSyntaxError';
  }
}

export interface ParsedJson {
  value: Json;
  /** Paths of fields named more than once, such as `metadata.name`; the last one named wins. */
  duplicateFields: string[];
  /** Where each field stands, by path (a repeated one where it is repeated); only there when fields are named twice. */
  fieldOrder?: ReadonlyMap<string, number>;
}

/** Parses JSON and says which fields were named twice. Throws {@link JsonSyntaxError}. */
export function parseJson(text: string): ParsedJson {
  const pairs = countPairs(text);
  let value: Json;
  try {
    value = parseExactly(text);
  } catch {
    throw new JsonSyntaxError(explainJsonError(text) ?? 'invalid JSON');
  }
  return pairs === countKeys(value) ? { value, duplicateFields: [] } : { value, ...findDuplicates(text) };
}

/** Counts colons outside of strings, and guards the depth. */
function countPairs(text: string): number {
  let pairs = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        if (at < 0) return pairs;
        break;
      case 0x3a: // :
        pairs += 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > maxDepth) throw new JsonSyntaxError('exceeded max depth');
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      default:
    }
  }
  return pairs;
}

/** The index of the quote that closes the string opened at `start`; -1 when there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

function countKeys(value: Json): number {
  if (typeof value !== 'object' || value === null || isBigInteger(value)) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const key in value) count += 1 + countKeys(value[key] as Json);
  return count;
}

/** Walks valid JSON text and collects the paths of repeated keys. The paths of many fields are not even made. */
function findDuplicates(text: string): Required<Omit<ParsedJson, 'value'>> {
  const found = new Set<string>();
  const fieldOrder = new Map<string, number>();
  let pathText = 0;
  const remember = (path: string): void => {
    pathText += path.length;
    if (pathText <= maxPathText) fieldOrder.set(path, at);
  };
  let at = 0;
  const skipSpace = (): void => {
    while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at += 1;
  };
  const readString = (): string => {
    const end = endOfString(text, at);
    const key = JSON.parse(text.slice(at, end + 1)) as string;
    at = end + 1;
    return key;
  };
  const readValue = (path: string): void => {
    skipSpace();
    const first = text.charAt(at);
    if (first === '{') {
      const seen = new Set<string>();
      at += 1;
      for (skipSpace(); text.charAt(at) !== '}'; skipSpace()) {
        if (text.charAt(at) === ',') {
          at += 1;
          skipSpace();
        }
        const key = readString();
        const childPath = path === '' ? key : `${path}.${key}`;
        if (!seen.has(key)) remember(childPath);
        else if (found.size < maxDuplicates && !found.has(childPath)) {
          found.add(childPath);
          remember(childPath);
        }
        seen.add(key);
        skipSpace();
        at += 1;
        readValue(childPath);
      }
      at += 1;
    } else if (first === '[') {
      at += 1;
      let index = 0;
      for (skipSpace(); text.charAt(at) !== ']'; skipSpace()) {
        if (text.charAt(at) === ',') at += 1;
        readValue(`${path}[${index}]`);
        index += 1;
      }
      at += 1;
    } else if (first === '"') readString();
    else while (at < text.length && !',]} \t\n\r'.includes(text.charAt(at))) at += 1;
  };
  readValue('');
  return { duplicateFields: [...found], fieldOrder };
}

function quoted(char: string): string {
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  const code = char.codePointAt(0) ?? 0;
  if (code === 0x0a) return "'\\n'";
  if (code === 0x0d) return "'\\r'";
  if (code === 0x09) return "'\\t'";
  if (code < 0x20 || code === 0x7f) return `'\\x${code.toString(16).padStart(2, '0')}'`;
  return `'${char}'`;
}

const unexpectedEnd = 'unexpected end of JSON input';

class Unexpected extends Error {}

/** What Go's decoder says of a text; undefined when it is valid JSON. */
export function explainJsonError(text: string): string | undefined {
  let at = 0;
  const fail = (context: string): never => {
    if (at >= text.length) throw new Unexpected(unexpectedEnd);
    // Go looks at bytes, so a character outside ASCII shows as the Latin-1 character of its first byte.
    const [byte = 0] = Buffer.from(String.fromCodePoint(text.codePointAt(at) ?? 0));
    throw new Unexpected(`invalid character ${quoted(String.fromCharCode(byte))} ${context}`);
  };
  const skipSpace = (): void => {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  };
  const literal = (word: string): void => {
    for (let index = 1; index < word.length; index += 1) {
      at += 1;
      if (text.charAt(at) !== word.charAt(index)) fail(`in literal ${word} (expecting ${quoted(word.charAt(index))})`);
    }
    at += 1;
  };
  const isDigit = (): boolean => at < text.length && text.charAt(at) >= '0' && text.charAt(at) <= '9';
  const digits = (): void => {
    while (isDigit()) at += 1;
  };
  const number = (): void => {
    if (text.charAt(at) === '-') {
      at += 1;
      if (!isDigit()) fail('in numeric literal');
    }
    if (text.charAt(at) === '0') at += 1;
    else digits();
    if (text.charAt(at) === '.') {
      at += 1;
      if (!isDigit()) fail('after decimal point in numeric literal');
      digits();
    }
    if (at < text.length && 'eE'.includes(text.charAt(at))) {
      at += 1;
      if (at < text.length && '+-'.includes(text.charAt(at))) at += 1;
      if (!isDigit()) fail('in exponent of numeric literal');
      digits();
    }
  };
  const string = (): void => {
    for (at += 1; ; at += 1) {
      if (at >= text.length) fail('');
      const char = text.charAt(at);
      if (char === '"') break;
      if (char < ' ') fail('in string literal');
      if (char === '\\') {
        at += 1;
        if (at >= text.length) fail('');
        if (text.charAt(at) === 'u') {
          for (let index = 0; index < 4; index += 1) {
            at += 1;
            if (at >= text.length || !/[0-9a-fA-F]/.test(text.charAt(at))) fail('in \\u hexadecimal character escape');
          }
        } else if (!'bfnrt\\/"'.includes(text.charAt(at))) fail('in string escape code');
      }
    }
    at += 1;
  };
  const value = (depth: number): void => {
    if (depth > maxDepth) throw new Unexpected('exceeded max depth');
    skipSpace();
    const char = text.charAt(at);
    if (char === '{') {
      at += 1;
      skipSpace();
      if (text.charAt(at) === '}') {
        at += 1;
        return;
      }
      for (;;) {
        skipSpace();
        if (text.charAt(at) !== '"') fail('looking for beginning of object key string');
        string();
        skipSpace();
        if (text.charAt(at) !== ':') fail('after object key');
        at += 1;
        value(depth + 1);
        skipSpace();
        if (text.charAt(at) === '}') break;
        if (text.charAt(at) !== ',') fail('after object key:value pair');
        at += 1;
      }
      at += 1;
    } else if (char === '[') {
      at += 1;
      skipSpace();
      if (text.charAt(at) === ']') {
        at += 1;
        return;
      }
      for (;;) {
        value(depth + 1);
        skipSpace();
        if (text.charAt(at) === ']') break;
        if (text.charAt(at) !== ',') fail('after array element');
        at += 1;
      }
      at += 1;
    } else if (char === '"') string();
    else if (char === 't') literal('true');
    else if (char === 'f') literal('false');
    else if (char === 'n') literal('null');
    else if (char === '-' || isDigit()) number();
    else fail('looking for beginning of value');
  };
  try {
    value(1);
    skipSpace();
    if (at < text.length) fail('after top-level value');
    return undefined;
  } catch (error) {
    if (error instanceof Unexpected) return error.message;
    throw error;
  }
}
