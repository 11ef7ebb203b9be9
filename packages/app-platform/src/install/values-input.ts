import { readFile } from 'node:fs/promises';

import type { Platform } from '../platform/platform.ts';
import type { Tree } from '../values/tree.ts';
import { parseYaml } from '../values/yaml-file.ts';

/** The values the installation was started with. */
export async function valuesInput({ settings }: Platform): Promise<Tree> {
  if (settings.valuesInput === undefined) {
    throw new Error('VALUES_INPUT is not set: it names the file with the values of the first installation');
  }
  const content = parseYaml(await readFile(settings.valuesInput, 'utf8'), 'VALUES_INPUT');
  if (!content) throw new TypeError('VALUES_INPUT: the file holds no values');
  return content;
}
