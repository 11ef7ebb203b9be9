import { posix } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ChartError } from './chart-error.ts';
import type { ChartFile } from './chart.ts';
import { archiveLimits, chartRoom, noRoom, takeRoom, type ChartRoom } from './chart-room.ts';
import { readTar } from './tar.ts';

/** Unpacks a chart's `.tgz` in memory. Names that leave the chart and links are refused. */
export async function readArchive(archive: Uint8Array, room: ChartRoom = chartRoom()): Promise<ChartFile[]> {
  return chartFiles(await unzip(archive, room), room);
}

async function unzip(archive: Uint8Array, room: ChartRoom): Promise<Uint8Array> {
  if (archive[0] !== 0x1f || archive[1] !== 0x8b)
    throw new ChartError('InvalidChart', 'file does not appear to be a gzipped archive');
  const most = Math.min(archiveLimits.total, room.bytes);
  try {
    const tar = await promisify(gunzip)(archive, { maxOutputLength: Math.max(most, 1) });
    takeRoom(room, { bytes: tar.length });
    return tar;
  } catch (error) {
    if (error instanceof ChartError) throw error;
    const tooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
    if (tooLarge && most < archiveLimits.total) throw noRoom(error);
    if (tooLarge)
      throw new ChartError('UnsafeArchive', `the archive unpacks to more than ${archiveLimits.total} bytes`, {
        cause: error,
      });
    throw new ChartError('InvalidChart', `the archive cannot be unpacked: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function chartFiles(tar: Uint8Array, room: ChartRoom): ChartFile[] {
  // What is in it twice counts as it was written last, as it does for whoever unpacks it.
  const files = new Map<string, ChartFile>();
  for (const entry of readTar(tar)) {
    if (entry.type === 'directory') continue;
    if (entry.type === 'link') throw new ChartError('UnsafeArchive', `the archive holds a link: ${entry.name}`);
    if (entry.data.length > archiveLimits.file)
      throw new ChartError('UnsafeArchive', `${entry.name} has more than ${archiveLimits.file} bytes`);
    const name = pathInChart(entry.name);
    files.set(name, { name, data: withoutMark(entry.data) });
    takeRoom(room, { files: 1 });
  }
  if (files.size === 0) throw new ChartError('InvalidChart', 'no files in chart archive');
  return [...files.values()];
}

/** Drops the first folder, which carries the chart's name. */
function pathInChart(name: string): string {
  const unsafe = (why: string) => new ChartError('UnsafeArchive', `${why}: ${name}`);
  const delimiter = name.includes('\\') ? '\\' : '/';
  const [top, ...rest] = name.split(delimiter) as [string, ...string[]];
  if (rest[0] === '') throw unsafe('chart illegally contains absolute paths');
  const path = posix.normalize(rest.join('/')).replace(/\/$/, '');
  if (path === '.' || top === '' || top === '..')
    throw unsafe('chart illegally contains content outside the base directory');
  if (path.startsWith('..')) throw unsafe('chart illegally references parent directory');
  if (/^[a-zA-Z]:/.test(top) || /^[a-zA-Z]:\//.test(path) || path.includes('\0'))
    throw unsafe('chart contains illegally named files');
  if (top === 'Chart.yaml') throw new ChartError('InvalidChart', 'chart yaml not in base directory');
  return path;
}

/** Without the byte order mark some editors leave. */
export function withoutMark(data: Uint8Array): Uint8Array {
  return data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data;
}
