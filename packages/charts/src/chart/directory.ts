import { open, readdir, readFile, realpath, stat } from 'node:fs/promises';
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
    const entries = await readdir(real, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const relative = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      const isLink = entry.isSymbolicLink();
      const target = isLink ? await inside(root, join(real, entry.name), relative) : join(real, entry.name);
      const info = isLink ? await stat(target) : entry;
      if (ignore.ignores(relative, info.isDirectory())) continue;
      if (info.isDirectory()) await walk(target, relative, ancestors);
      else if (info.isFile()) files.push({ name: relative, data: await read(target, relative) });
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

async function read(path: string, name: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (size > archiveLimits.file)
    throw new ChartError('UnsafeArchive', `${name} has more than ${archiveLimits.file} bytes`);
  return withoutMark(await file.readFile());
}

async function inside(root: string, path: string, name: string): Promise<string> {
  const real = await realpath(path);
  if (real !== root && !real.startsWith(root + sep))
    throw new ChartError('UnsafeArchive', `${name} is a link that leads outside the chart`);
  return real;
}
