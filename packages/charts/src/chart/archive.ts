import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ChartError } from './chart-error.ts';
import type { ChartFile } from './chart.ts';
import { readTar } from './tar.ts';

/** Helm's own limits: no chart comes near, a bomb does. */
export const archiveLimits = { total: 100 * 1024 * 1024, file: 5 * 1024 * 1024, files: 50_000 } as const;

/** Unpacks a chart's `.tgz` in memory. Names that leave the chart and links are refused. */
export async function readArchive(archive: Uint8Array): Promise<ChartFile[]> {
  return chartFiles(await unzip(archive));
}

async function unzip(archive: Uint8Array): Promise<Uint8Array> {
  if (archive[0] !== 0x1f || archive[1] !== 0x8b)
    throw new ChartError('InvalidChart', 'file does not appear to be a gzipped archive');
  try {
    return await promisify(gunzip)(archive, { maxOutputLength: archiveLimits.total });
  } catch (error) {
    const tooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
    if (tooLarge)
      throw new ChartError('UnsafeArchive', `the archive unpacks to more than ${archiveLimits.total} bytes`, {
        cause: error,
      });
    throw new ChartError('InvalidChart', `the archive cannot be unpacked: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function chartFiles(tar: Uint8Array): ChartFile[] {
  const files: ChartFile[] = [];
  for (const entry of readTar(tar)) {
    if (entry.type === 'directory') continue;
    if (entry.type === 'link') throw new ChartError('UnsafeArchive', `the archive holds a link: ${entry.name}`);
    if (entry.data.length > archiveLimits.file)
      throw new ChartError('UnsafeArchive', `${entry.name} has more than ${archiveLimits.file} bytes`);
    const name = pathInChart(entry.name);
    files.push({ name, data: withoutMark(entry.data) });
    if (files.length > archiveLimits.files)
      throw new ChartError('UnsafeArchive', `the archive holds more than ${archiveLimits.files} files`);
  }
  if (files.length === 0) throw new ChartError('InvalidChart', 'no files in chart archive');
  return files;
}

/** Drops the first folder, which carries the chart's name. */
function pathInChart(name: string): string {
  const path = name.includes('\\') ? name.replaceAll('\\', '/') : name;
  const parts = path.split('/').filter((part, index) => part !== '.' || index > 0);
  const [top, ...rest] = parts;
  if (top === 'Chart.yaml' && rest.length === 0)
    throw new ChartError('InvalidChart', 'chart yaml not in base directory');
  const inside = rest.filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || inside.length === 0 || inside.includes('..') || top === '..')
    throw new ChartError('UnsafeArchive', `chart illegally contains content outside the base directory: ${name}`);
  if (/^[a-zA-Z]:/.test(path) || inside.some((part) => part.includes('\0')))
    throw new ChartError('UnsafeArchive', `chart contains illegally named files: ${name}`);
  return inside.join('/');
}

/** Without the byte order mark some editors leave. */
export function withoutMark(data: Uint8Array): Uint8Array {
  return data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data;
}
