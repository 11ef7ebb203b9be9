import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError, exitCodes, type KubeObject, type Terminal } from '@slipway/kube';

import { ManifestError } from './manifest-error.ts';
import { parseManifests, type ParseOptions } from './parse.ts';

/** `-f` of the commands that read objects, as kubectl has it. */
export const fileFlag = {
  type: 'string',
  short: 'f',
  value: 'file',
  summary: 'YAML or JSON; a folder of such files, or - for standard input',
  repeated: true,
  perCall: true,
} as const;

/** The objects in what `-f` names, in the order of the command line; the files of a folder by name. */
export async function readManifestFiles(
  terminal: Pick<Terminal, 'cwd' | 'readInput'>,
  files: readonly string[],
  options: Pick<ParseOptions, 'check'> = {},
): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const file of files) {
    for (const { source, text } of await textsOf(terminal, file))
      objects.push(...(await usableManifest('', () => parseManifests(text, { ...options, source }))));
  }
  return objects;
}

/** What is wrong with a manifest is the matter of whoever wrote it. `where` stands before what is wrong. */
export async function usableManifest<T>(where: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    throw new CommandError(`${where}${error.message}`, {
      hint: 'nothing was done; mend the manifest and try again',
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}

interface SourceText {
  readonly source: string;
  readonly text: string;
}

async function textsOf(terminal: Pick<Terminal, 'cwd' | 'readInput'>, file: string): Promise<SourceText[]> {
  if (file === '-') return [{ source: 'standard input', text: await terminal.readInput() }];
  try {
    const path = resolve(terminal.cwd, file);
    if (!(await stat(path)).isDirectory()) return [{ source: file, text: await readFile(path, 'utf8') }];
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries
      .filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/.test(entry.name))
      .map(({ name }) => name)
      .sort();
    return await Promise.all(
      names.map(async (name) => ({ source: join(file, name), text: await readFile(join(path, name), 'utf8') })),
    );
  } catch (error) {
    throw new CommandError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      hint: '-f takes a file, a folder, or - for standard input',
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}
