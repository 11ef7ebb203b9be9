import type { Release } from '../release/release.ts';

/** What Helm prints after it worked on a release. */
export function releaseText(release: Release, headline: string): string {
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

/** `shop-1.0.0`, as Helm names the chart of a release. */
export function chartText({ chart }: Release): string {
  return `${chart.metadata.name}-${chart.metadata.version}`;
}

/** Rows under their headings, each column as wide as it has to be. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('\t')
          .trimEnd()}\n`,
    )
    .join('');
}
