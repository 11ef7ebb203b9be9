import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { withoutMark } from './archive.ts';
import { bytesToText } from '../go/bytes.ts';
import { ChartError } from './chart-error.ts';
import type { ChartFile } from './chart.ts';
import { archiveLimits, takeRoom, type ChartRoom } from './chart-room.ts';
import { parseIgnoreRules } from './ignore.ts';
import { reading, readRegularFile } from './regular-file.ts';

/**
 * Reads a chart's folder. Links are followed inside it; one that leads out is refused.
 *
 * It does not wait for each file: charts have hundreds of small ones, and turns of the event loop would take several times
 * as long as the reading. What renders the chart holds the loop for longer.
 */
export function readDirectory(path: string, room: ChartRoom): ChartFile[] {
  const root = realpathSync.native(path);
  // Whoever names the wrong folder wants to be told, not to have all of it read.
  if (!existsSync(`${root}${sep}Chart.yaml`)) throw new ChartError('InvalidChart', 'Chart.yaml file is missing');
  const ignore = parseIgnoreRules(ignoreFile(root));
  const files: ChartFile[] = [];
  const walk = (folder: string, prefix: string, above: ReadonlySet<string>): void => {
    const real = inside(root, folder, prefix);
    if (above.has(real)) throw new ChartError('UnsafeArchive', `the link ${prefix} leads to a folder that holds it`);
    const ancestors = new Set([...above, real]);
    const entries = reading(prefix || 'the chart', () => readdirSync(real, { withFileTypes: true }));
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const relative = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      const isLink = entry.isSymbolicLink();
      const place = `${real}${sep}${entry.name}`;
      const target = isLink ? inside(root, place, relative) : place;
      const info = isLink ? statSync(target) : entry;
      if (ignore.ignores(relative, info.isDirectory())) continue;
      // Folders count, too: links may lead to the same ones again and again.
      takeRoom(room, { files: 1 });
      if (info.isDirectory()) walk(target, relative, ancestors);
      else if (info.isFile()) files.push({ name: relative, data: read(target, relative, room) });
      else
        throw new ChartError(
          'InvalidChart',
          `cannot load irregular file ${relative} as it has file mode type bits set`,
        );
    }
  };
  walk(root, '', new Set());
  return files;
}

/** It may be a link, like every file of a chart, but to nothing outside. */
function ignoreFile(root: string): string {
  const name = '.helmignore';
  const path = `${root}${sep}${name}`;
  if (!existsSync(path)) return '';
  return bytesToText(withoutMark(readRegularFile(inside(root, path, name), name, archiveLimits.file)));
}

function read(path: string, name: string, room: ChartRoom): Uint8Array {
  const data = readRegularFile(path, name, archiveLimits.file);
  takeRoom(room, { bytes: data.length });
  return withoutMark(data);
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
