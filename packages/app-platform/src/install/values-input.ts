import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

import type { Platform } from '../platform/platform.ts';
import { isTree, type Tree } from '../values/tree.ts';

/** The values the installation was started with. */
export async function valuesInput({ settings }: Platform): Promise<Tree> {
  if (settings.valuesInput === undefined) {
    throw new Error('VALUES_INPUT is not set: it names the file with the values of the first installation');
  }
  const content: unknown = parse(await readFile(settings.valuesInput, 'utf8'));
  if (!isTree(content)) throw new TypeError('VALUES_INPUT: the file holds no values');
  return content;
}
