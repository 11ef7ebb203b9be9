import { type OutputFormat, yamlText } from '@slipway/kube';

import type { Release } from '../release/release.ts';

/** What Helm prints after it worked on a release, in the format that was asked for. */
export function releaseText(release: Release, headline: string, format: 'table' | 'json' | 'yaml'): string {
  if (format !== 'table') {
    const record = releaseRecord(release);
    return format === 'json' ? `${JSON.stringify(record)}\n` : yamlText(record);
  }
  const lines = [
    ...(headline ? [headline] : []),
    `NAME: ${release.name}`,
    `LAST DEPLOYED: ${new Date(release.lastDeployed).toUTCString()}`,
    `NAMESPACE: ${release.namespace}`,
    `STATUS: ${release.status}`,
    `REVISION: ${release.revision}`,
    `DESCRIPTION: ${release.description}`,
  ];
  const notes = release.notes.trim();
  if (notes) lines.push('NOTES:', notes);
  return `${lines.join('\n')}\n`;
}

/** What Helm's own `-o json` has of a release, but for what may hold secrets: its values and its objects. */
function releaseRecord(release: Release): object {
  return {
    name: release.name,
    info: {
      first_deployed: release.firstDeployed,
      last_deployed: release.lastDeployed,
      description: release.description,
      status: release.status,
      ...(release.notes ? { notes: release.notes } : {}),
    },
    chart: { metadata: release.chart.metadata },
    version: release.revision,
    namespace: release.namespace,
  };
}

/** `shop-1.0.0`, as Helm names the chart of a release. */
export function chartText({ chart }: Release): string {
  return `${chart.metadata.name}-${chart.metadata.version}`;
}

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
      return table([headings, ...rows.map((row) => Object.values(row).map(String))]);
  }
}

/** Each column as wide as it has to be. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column]!)).join('\t');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}
