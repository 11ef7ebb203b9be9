import { textToBytes } from '../go/bytes.ts';

/** A text as Go's `time` shows it in a complaint, which is not as `strconv` does: bytes that are no ASCII are numbers. */
export function quoteTime(text: string): string {
  const shown = Array.from(textToBytes(text), (byte) => {
    if (byte < 0x20 || byte > 0x7f) return `\\x${byte.toString(16).padStart(2, '0')}`;
    const char = String.fromCharCode(byte);
    return char === '"' || char === '\\' ? `\\${char}` : char;
  });
  return `"${shown.join('')}"`;
}
