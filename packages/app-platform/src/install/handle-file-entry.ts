import { resolve, sep } from 'node:path';

import { OperatorError } from '../operator-error.ts';
import type { Platform } from '../platform/platform.ts';
import { isTree } from '../values/tree.ts';
import { writeWhole } from '../values/write-file.ts';
import { valuesInput } from './values-input.ts';

/** Writes the files the values bring along under `files`, by path in the repository. */
export async function handleFileEntry(platform: Platform): Promise<void> {
  const { files } = await valuesInput(platform);
  if (!isTree(files)) return;
  const root = resolve(platform.directory) + sep;
  for (const [path, text] of Object.entries(files)) {
    const target = resolve(platform.directory, path);
    if (!target.startsWith(root) || target.startsWith(`${root}.git${sep}`))
      throw new OperatorError(
        'InvalidValuesInput',
        `VALUES_INPUT: files: '${path}' is not a place in the values repository; name a file below it`,
      );
    await writeWhole(target, String(text));
  }
}
