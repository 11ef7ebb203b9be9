import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { compileGlob } from '@slipway/charts';
import type { KubeObject } from '@slipway/kube';

import type { Source } from '../../argo/application.ts';
import type { Checkout } from './checkout.ts';
import { readObjects } from './read-objects.ts';

/** The objects in the files of a folder, in the order of their names. */
export async function renderDirectory(checkout: Checkout, source: Source): Promise<KubeObject[]> {
  const { recurse = false, include = '', exclude = '' } = source.directory ?? {};
  const folder = await checkout.folder(source.path ?? '.');
  const entries = await readdir(folder, { withFileTypes: true, recursive: recurse });
  const isIncluded = include === '' ? () => true : fits(include);
  const isExcluded = exclude === '' ? () => false : fits(exclude);
  const objects: KubeObject[] = [];
  for (const entry of entries.sort((a, b) => compare(join(a.parentPath, a.name), join(b.parentPath, b.name)))) {
    if (entry.isDirectory() || !/\.(ya?ml|json)$/.test(entry.name)) continue;
    const path = relative(folder, join(entry.parentPath, entry.name));
    if (!isIncluded(path) || isExcluded(path)) continue;
    const real = await checkout.find(join(source.path ?? '.', path));
    if (real !== undefined) objects.push(...readObjects(await readFile(real, 'utf8'), path));
  }
  return objects;
}

/** As Argo CD matches: a star goes over folders too. */
function fits(pattern: string): (path: string) => boolean {
  return compileGlob(pattern.replaceAll(/\*+/g, '**'));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
