import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { archiveLimits, withoutMark } from './archive.ts';
import { ChartError } from './chart-error.ts';
import type { ChartFile } from './chart.ts';
import { parseIgnoreRules } from './ignore.ts';

/** Reads a chart's folder. Links are followed inside it; one that leads out is refused. */
export async function readDirectory(path: string): Promise<ChartFile[]> {
  const root = await realpath(path);
  const ignore = parseIgnoreRules(await readFile(join(root, '.helmignore'), 'utf8').catch(() => ''));
  const files: ChartFile[] = [];
  const walk = async (folder: string, prefix: string, above: ReadonlySet<string>): Promise<void> => {
    const real = await inside(root, folder, prefix);
    if (above.has(real)) throw new ChartError('UnsafeArchive', `the link ${prefix} leads to a folder that holds it`);
    const ancestors = new Set([...above, real]);
    for (const name of (await readdir(real)).sort()) {
      const relative = prefix === '' ? name : `${prefix}/${name}`;
      const target = await inside(root, join(real, name), relative);
      const info = await stat(target);
      if (ignore.ignores(relative, info.isDirectory())) continue;
      if (info.isDirectory()) await walk(target, relative, ancestors);
      else if (info.isFile()) files.push({ name: relative, data: await read(target, relative, info.size) });
      else
        throw new ChartError(
          'InvalidChart',
          `cannot load irregular file ${relative} as it has file mode type bits set`,
        );
      if (files.length > archiveLimits.files)
        throw new ChartError('UnsafeArchive', `the chart holds more than ${archiveLimits.files} files`);
    }
  };
  await walk(root, '', new Set());
  return files;
}

async function read(path: string, name: string, size: number): Promise<Uint8Array> {
  if (size > archiveLimits.file)
    throw new ChartError('UnsafeArchive', `${name} has more than ${archiveLimits.file} bytes`);
  return withoutMark(await readFile(path));
}

async function inside(root: string, path: string, name: string): Promise<string> {
  const real = await realpath(path);
  if (real !== root && !real.startsWith(root + sep))
    throw new ChartError('UnsafeArchive', `${name} is a link that leads outside the chart`);
  return real;
}
