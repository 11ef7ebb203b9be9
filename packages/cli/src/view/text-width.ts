import { stripVTControlCharacters } from 'node:util';

/** How many columns a text takes; colours take none. */
export function textWidth(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length;
}

const escape = String.fromCharCode(0x1b);
const pieces = new RegExp(`${escape}\\[[0-9;]*m|.`, 'gsu');

/** `text` cut to `width` columns with `…` at its end. Colours stay whole and are ended. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return '';
  let room = width - 1;
  let kept = '';
  let coloured = false;
  for (const [piece] of text.matchAll(pieces)) {
    if (piece.startsWith(escape)) {
      coloured = true;
      kept += piece;
    } else if (room > 0) {
      kept += piece;
      room -= 1;
    } else break;
  }
  return `${kept}…${coloured ? '\u001B[0m' : ''}`;
}
