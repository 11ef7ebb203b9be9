import { cut, textWidth } from './text-width.ts';

const indent = ' '.repeat(13);

/** A line in as many lines as its words take in `width` columns. A word that is longer than a line is cut. */
export function fold(line: string, width: number): string[] {
  if (textWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(/(?<=\S) (?=\S)/)) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current === '' || textWidth(longer) <= width) current = longer;
    else {
      lines.push(cut(current, width));
      current = indent + word;
    }
  }
  return [...lines, cut(current, width)];
}
