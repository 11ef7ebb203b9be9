import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { archiveLimits, withoutMark } from './archive.ts';
import { ChartError } from './chart-error.ts';
import type { ChartFile } from './chart.ts';
import { parseIgnoreRules } from './ignore.ts';

/**
 * Reads a chart's folder. Links are followed inside it; one that leads out is refused.
 *
 * It does not wait for each file: charts have hundreds of small ones, and turns of the event loop would take several times
 * as long as the reading. What renders the chart holds the loop for longer.
 */
export function readDirectory(path: string): ChartFile[] {
  const root = realpathSync.native(path);
  const ignore = parseIgnoreRules(ignoreFile(`${root}${sep}.helmignore`));
  const files: ChartFile[] = [];
  const walk = (folder: string, prefix: string, above: ReadonlySet<string>): void => {
    const real = inside(root, folder, prefix);
    if (above.has(real)) throw new ChartError('UnsafeArchive', `the link ${prefix} leads to a folder that holds it`);
    const ancestors = new Set([...above, real]);
    const entries = readdirSync(real, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const relative = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      const isLink = entry.isSymbolicLink();
      const place = `${real}${sep}${entry.name}`;
      const target = isLink ? inside(root, place, relative) : place;
      const info = isLink ? statSync(target) : entry;
      if (ignore.ignores(relative, info.isDirectory())) continue;
      if (info.isDirectory()) walk(target, relative, ancestors);
      else if (info.isFile()) files.push({ name: relative, data: read(target, relative) });
      else
        throw new ChartError(
          'InvalidChart',
          `cannot load irregular file ${relative} as it has file mode type bits set`,
        );
      if (files.length > archiveLimits.files)
        throw new ChartError('UnsafeArchive', `the chart holds more than ${archiveLimits.files} files`);
    }
  };
  walk(root, '', new Set());
  return files;
}

function ignoreFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function read(path: string, name: string): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > archiveLimits.file)
      throw new ChartError('UnsafeArchive', `${name} has more than ${archiveLimits.file} bytes`);
    return withoutMark(readBytes(file, size));
  } finally {
    closeSync(file);
  }
}

/** Charts have hundreds of files: Node's own reading would ask each for its size again. */
function readBytes(file: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const count = readSync(file, bytes, length, size - length, null);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}

function inside(root: string, path: string, name: string): string {
  const real = target(path, name);
  if (real !== root && !real.startsWith(root + sep))
    throw new ChartError('UnsafeArchive', `${name} is a link that leads outside the chart`);
  return real;
}

/** A link may lead to nothing, or round in a circle. */
function target(path: string, name: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ChartError('InvalidChart', `error evaluating symlink ${name}: it leads nowhere (${code})`, { cause });
  }
}
