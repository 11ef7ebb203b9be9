/** A column of a table. */
export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
  /** Takes what is left of the width and is cut with `…`. Default false: as wide as its longest text. */
  readonly flexible?: boolean;
  /** Colours the padded text. */
  readonly paint?: (row: T, text: string) => string;
}

const gap = '   ';
const smallestFlexible = 12;

/** Rows under titles, fitted into `width` characters; the flexible column gives way. */
export function renderTable<T>(columns: readonly Column<T>[], rows: readonly T[], width: number): string[] {
  const texts = rows.map((row) => columns.map((column) => column.text(row)));
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...texts.map((cells) => cells[index]!.length)),
  );
  const flexible = columns.findIndex((column) => column.flexible);
  if (flexible >= 0) {
    const others = widths.reduce((sum, each, index) => sum + (index === flexible ? 0 : each + gap.length), 0);
    widths[flexible] = Math.min(widths[flexible]!, Math.max(smallestFlexible, width - others));
  }
  const line = (cells: readonly string[], row?: T) =>
    columns
      .map((column, index) => {
        const padded =
          index === columns.length - 1
            ? fit(cells[index]!, widths[index]!).trimEnd()
            : fit(cells[index]!, widths[index]!);
        return row !== undefined && column.paint ? column.paint(row, padded) : padded;
      })
      .join(gap)
      .trimEnd();
  return [line(columns.map((column) => column.title)), ...rows.map((row, index) => line(texts[index]!, row))];
}

function fit(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text.padEnd(width);
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
