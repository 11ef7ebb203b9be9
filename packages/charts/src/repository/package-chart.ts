import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import type { Chart } from '../chart/chart.ts';
import { writeTar } from '../chart/tar.ts';

/** A chart as a `.tgz`: every file of it below a folder of its name, all of the same age, so that equal charts are equal bytes. */
export async function packageChart({ metadata, raw }: Chart): Promise<Buffer> {
  const entries = raw.map(({ name, data }) => ({ name: `${metadata.name}/${name}`, data }));
  return await promisify(gzip)(writeTar(entries), { level: 9 });
}
