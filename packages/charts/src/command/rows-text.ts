import { type OutputFormat, yamlText } from '@slipway/kube';

/** Rows in the format that was asked for. In a table the fields are the headings; `-o name` prints the first field. */
export function rowsText(
  rows: readonly Readonly<Record<string, unknown>>[],
  headings: readonly string[],
  format: OutputFormat,
): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(rows, undefined, 2)}\n`;
    case 'yaml':
      return yamlText(rows);
    case 'name':
      return rows.map((row) => `${String(Object.values(row)[0])}\n`).join('');
    default:
      return table([...(headings.length > 0 ? [headings] : []), ...rows.map((row) => Object.values(row).map(String))]);
  }
}

/** Each column as wide as it has to be. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = columnWidths(rows);
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column]!)).join('\t');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** How wide the columns of a table are. */
export function columnWidths(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
}
