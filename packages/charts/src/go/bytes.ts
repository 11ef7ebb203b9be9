import { isAscii as areAscii } from 'node:buffer';

/**
 * Go strings are bytes. Ours are JavaScript strings; a byte that is not part of valid UTF-8 is kept as the lone surrogate
 * U+DC80…U+DCFF (as Python's `surrogateescape` does), so that binary data survives `b64dec | b64enc`.
 */
const firstEscape = 0xdc80;
const lastEscape = 0xdcff;
const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const nonAscii = /[^\0-\x7f]/;

export function isAscii(text: string): boolean {
  return !nonAscii.test(text);
}

/** The text of bytes that are all ASCII, as most files are; nothing when one is not. It takes a fraction of the time of decoding them. */
export function asciiText(bytes: Uint8Array): string | undefined {
  return areAscii(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1') : undefined;
}

export function bytesToText(bytes: Uint8Array): string {
  const ascii = asciiText(bytes);
  if (ascii !== undefined) return ascii;
  try {
    return fatal.decode(bytes);
  } catch {
    return escapeInvalid(bytes);
  }
}

function escapeInvalid(bytes: Uint8Array): string {
  let text = '';
  let index = 0;
  while (index < bytes.length) {
    const length = sequenceLength(bytes, index);
    if (length === 0) {
      text += String.fromCharCode(0xdc00 + bytes[index]!);
      index += 1;
    } else {
      text += fatal.decode(bytes.subarray(index, index + length));
      index += length;
    }
  }
  return text;
}

/** Bytes of the valid UTF-8 sequence that starts at `index`; 0 when there is none. */
function sequenceLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index]!;
  if (first < 0x80) return 1;
  const length =
    first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (length === 0 || index + length > bytes.length) return 0;
  for (let i = 1; i < length; i += 1) if ((bytes[index + i]! & 0xc0) !== 0x80) return 0;
  const second = bytes[index + 1]!;
  if (first === 0xe0 && second < 0xa0) return 0;
  if (first === 0xed && second > 0x9f) return 0;
  if (first === 0xf0 && second < 0x90) return 0;
  if (first === 0xf4 && second > 0x8f) return 0;
  return length;
}

export function textToBytes(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const bytes: number[] = [];
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (code >= firstEscape && code <= lastEscape) bytes.push(code - 0xdc00);
    else bytes.push(...Buffer.from(char, 'utf8'));
  }
  return Uint8Array.from(bytes);
}

/** Go's `len` of a string. */
export function byteLength(text: string): number {
  if (isAscii(text)) return text.length;
  return text.isWellFormed() ? Buffer.byteLength(text, 'utf8') : textToBytes(text).length;
}

/** Go's `text[start:end]`. */
export function sliceBytes(text: string, start: number, end?: number): string {
  if (isAscii(text)) return text.slice(start, end);
  return bytesToText(textToBytes(text).subarray(start, end));
}

/** Order of strings by their bytes, which is the order of their code points, not of UTF-16 units. */
export function utf8Compare(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates stand for code points above every other unit.
    if (x >= 0xd800 && y >= 0xd800) {
      x = x >= 0xe000 ? x - 0x800 : x + 0x2000;
      y = y >= 0xe000 ? y - 0x800 : y + 0x2000;
    }
    return x - y;
  }
  return a.length - b.length;
}

/** What a decoder of UTF-8 would show: each stray byte as U+FFFD. */
export function withReplacements(text: string): string {
  return text.toWellFormed();
}

/** The characters of a text as Go's `[]rune` has them. */
export function runes(text: string): string[] {
  return Array.from(text);
}

/** How many characters {@link runes} answers. */
export function runeCount(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? runes(text).length : text.length;
}
