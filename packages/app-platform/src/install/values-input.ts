import { readFile } from 'node:fs/promises';

import { OperatorError } from '../operator-error.ts';
import type { Platform } from '../platform/platform.ts';
import type { Tree } from '../values/tree.ts';
import { parseYaml } from '../values/yaml-file.ts';

/** The values the installation was started with. */
export async function valuesInput({ settings }: Platform): Promise<Tree> {
  const { valuesInput: path } = settings;
  if (path === undefined)
    throw unusable('VALUES_INPUT is not set; let it name the file with the values of the first installation');
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw unusable(`VALUES_INPUT: ${path} cannot be read (${cause.code}); let it name a YAML file`, cause);
  });
  const content = parseYaml(text, 'VALUES_INPUT');
  if (!content) throw unusable(`VALUES_INPUT: ${path} holds no values; give at least those the schema requires`);
  return content;
}

function unusable(message: string, cause?: unknown): OperatorError {
  return new OperatorError('InvalidValuesInput', message, { cause });
}
