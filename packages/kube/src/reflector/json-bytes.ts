import { parseJson } from '../json.ts';

/** Bytes that are not the JSON they should be. The connection that carried them is dropped. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

export const quote = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
const backslash = 0x5c;

/** The first position from `at` on that is not white space. */
export function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end) {
    const byte = bytes[i]!;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return i;
    i += 1;
  }
  return i;
}

/** The position after the closing quote of the string whose opening quote is at `at`. */
export function stringEnd(bytes: Uint8Array, at: number, end: number): number {
  let i = at + 1;
  while (i < end) {
    const byte = bytes[i]!;
    if (byte === quote) return i + 1;
    i += byte === backslash ? 2 : 1;
  }
  throw new UndecodableError('a string does not end');
}

/** The position after the value that starts at `at`. Structure only: scalars are not checked. */
export function valueEnd(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at];
  if (first === quote) return stringEnd(bytes, at, end);
  if (first === openBrace || first === openBracket) return containerEnd(bytes, at, end);
  let i = at;
  while (i < end) {
    const byte = bytes[i]!;
    if (byte === comma || byte === closeBrace || byte === closeBracket || byte <= 0x20) break;
    i += 1;
  }
  if (i === at) throw new UndecodableError(`a value is missing at byte ${at}`);
  return i;
}

/** The position after the object or array at `at`. Written for speed: most of the bytes of an object pass through here. */
function containerEnd(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  let depth = 0;
  while (i < end) {
    const byte = bytes[i]!;
    i += 1;
    if (byte < openBracket) {
      if (byte !== quote) continue;
      while (i < end) {
        const inner = bytes[i]!;
        i += 1;
        if (inner === quote) break;
        if (inner === backslash) i += 1;
      }
    } else if ((byte | 0x20) === openBrace) {
      // '{' and '[' differ in one bit, and so do '}' and ']'.
      depth += 1;
    } else if ((byte | 0x20) === closeBrace && --depth === 0) return i;
  }
  throw new UndecodableError('an object or array does not end');
}

/** Whether the bytes from `at` on are `text`. */
export function bytesAre(bytes: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i += 1) {
    if (bytes[at + i] !== text[i]) return false;
  }
  return true;
}

/** The text of the JSON string whose quotes are at `start` and `end - 1`. */
export function stringAt(bytes: Buffer, start: number, end: number): string {
  for (let i = start + 1; i < end - 1; i += 1) {
    const byte = bytes[i]!;
    if (byte >= 0x80 || byte === backslash) return parseAt(bytes, start, end) as string;
  }
  return bytes.toString('latin1', start + 1, end - 1);
}

/** The parsed JSON between `start` and `end`. */
export function parseAt(bytes: Buffer, start: number, end: number): unknown {
  try {
    return parseJson(bytes.toString('utf8', start, end));
  } catch {
    // Without its cause, which quotes the text it stumbled over: it may be a Secret's.
    throw new UndecodableError('not JSON');
  }
}
