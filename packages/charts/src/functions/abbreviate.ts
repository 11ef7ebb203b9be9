import { bytesToText, textToBytes } from '../go/bytes.ts';

/** Shortening and wrapping as Masterminds/goutils does, which counts bytes. */

export function abbreviate(text: string, width: number): string {
  return abbreviateBoth(text, 0, width);
}

export function abbreviateBoth(text: string, from: number, width: number): string {
  const bytes = textToBytes(text);
  const size = bytes.length;
  if (size <= width) return text;
  const kept = width - 3;
  let offset = Math.min(from, size);
  if (size - offset < kept) offset = size - kept;
  if (offset <= 4) return `${bytesToText(bytes.subarray(0, kept))}...`;
  if (width < 7) return '';
  if (offset + kept < size) return `...${abbreviate(bytesToText(bytes.subarray(offset)), kept)}`;
  return `...${bytesToText(bytes.subarray(size - kept))}`;
}

export function wrapText(text: string, width: number, lineBreak: string, cutsWords: boolean): string {
  const bytes = Buffer.from(textToBytes(text));
  const newLine = lineBreak === '' ? '\n' : lineBreak;
  const length = Math.max(width, 1);
  const space = 0x20;
  const part = (from: number, to: number) => bytesToText(bytes.subarray(from, to));
  let wrapped = '';
  let offset = 0;
  while (bytes.length - offset > length) {
    if (bytes[offset] === space) {
      offset += 1;
      continue;
    }
    const at = bytes.subarray(offset, offset + length + 1).lastIndexOf(space) + offset;
    if (at >= offset) {
      wrapped += part(offset, at) + newLine;
      offset = at + 1;
    } else if (cutsWords) {
      wrapped += part(offset, offset + length) + newLine;
      offset += length;
    } else {
      const next = bytes.indexOf(space, offset + length);
      if (next < 0) {
        wrapped += part(offset, bytes.length);
        offset = bytes.length;
      } else {
        wrapped += part(offset, next) + newLine;
        offset = next + 1;
      }
    }
  }
  return wrapped + part(offset, bytes.length);
}
