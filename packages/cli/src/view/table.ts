import { cut, textWidth } from './text-width.ts';

/** A column of a table. */
export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
  /**
   * Takes what is left of the width. Where too little is left to read, the text goes onto a line of its own below the row.
   * Default false: as wide as its longest text.
   */
  readonly flexible?: boolean;
  /** Colours the padded text. */
  readonly paint?: (row: T, text: string) => string;
}

const gap = '   ';
/** Less is not worth a column. */
const readable = 30;
/** Columns that must give way keep at least this. */
const smallest = 6;

/** Rows under titles, fitted into `width` characters. A flexible column without any text is left out. */
export function renderTable<T>(columns: readonly Column<T>[], rows: readonly T[], width: number): string[] {
  const extra = columns.find((column) => column.flexible);
  const fixed = columns.filter((column) => !column.flexible);
  const texts = rows.map((row) => fixed.map((column) => column.text(row)));
  const widths = fixed.map((column, index) =>
    Math.max(textWidth(column.title), ...texts.map((cells) => textWidth(cells[index]!))),
  );
  shrink(widths, width - gap.length * (fixed.length - 1));
  const used = widths.reduce((sum, each) => sum + each + gap.length, 0);
  const longest = extra ? Math.max(0, ...rows.map((row) => textWidth(extra.text(row)))) : 0;
  const room = width - used;
  const beside = longest > 0 && room >= Math.min(longest, readable) && room >= textWidth(extra!.title);

  const line = (cells: readonly string[], last: string, row?: T) => {
    const parts = fixed.map((column, index) => {
      const padded = pad(cut(cells[index]!, widths[index]!), widths[index]!);
      return row !== undefined && column.paint ? column.paint(row, padded) : padded;
    });
    return [...parts, ...(beside ? [cut(last, room)] : [])].join(gap).trimEnd();
  };
  const lines = [
    line(
      fixed.map((column) => column.title),
      extra?.title ?? '',
    ),
  ];
  for (const [index, row] of rows.entries()) {
    const text = extra?.text(row) ?? '';
    lines.push(line(texts[index]!, text, row));
    if (!beside && text !== '') lines.push(`  ${cut(text, width - 2)}`);
  }
  return lines;
}

/** Takes from the widest column until all fit. */
function shrink(widths: number[], room: number): void {
  for (let over = widths.reduce((sum, each) => sum + each, 0) - room; over > 0; over -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= smallest) return;
    widths[widest]! -= 1;
  }
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

/** Time passed, as kubectl prints it: `5s`, `3m12s`, `2h`, `4d`. */
export function ageText(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
