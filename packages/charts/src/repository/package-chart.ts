import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import { ChartError } from '../chart/chart-error.ts';
import type { Chart } from '../chart/chart.ts';
import { writeTar } from '../chart/tar.ts';

/**
 * A chart as a `.tgz`: every file of it below a folder of its name, all of the same age, so that equal charts are equal bytes. What the
 * chart is comes first, as Helm has it, and the charts in it last.
 */
export async function packageChart({ metadata, raw, schema }: Chart): Promise<Buffer> {
  checkSchema(schema);
  const entries = raw
    .toSorted((a, b) => place(a.name) - place(b.name))
    .map(({ name, data }) => ({ name: `${metadata.name}/${name}`, data }));
  return await promisify(gzip)(writeTar(entries), { level: 9 });
}

const beginning = ['Chart.yaml', 'Chart.lock', 'values.yaml', 'values.schema.json', 'templates'];

function place(name: string): number {
  const [top] = name.split('/', 1) as [string];
  if (top === 'charts') return beginning.length + 1;
  const first = beginning.indexOf(top);
  return first < 0 ? beginning.length : first;
}

/** A chart whose schema nobody can read could be packed, but never rendered. */
function checkSchema(schema: Uint8Array | undefined): void {
  if (schema === undefined) return;
  try {
    JSON.parse(Buffer.from(schema).toString('utf8'));
  } catch (cause) {
    throw new ChartError('InvalidChart', 'failed to save: invalid JSON in values.schema.json', { cause });
  }
}
