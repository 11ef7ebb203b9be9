import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, isEncrypted, SopsError } from '@slipway/sops';

import { usesSops } from '../secrets/crypt.ts';
import { foldersBelow, isHidden, pathOf } from '../values/folders.ts';
import { isDecrypted, isSecretFile, teamFolders } from '../values/kinds.ts';
import { findFiles, lineOf, type FoundFile } from '../values/load.ts';
import { ParsedFiles } from '../values/parsed-files.ts';
import { valueAt } from '../values/tree.ts';
import type { ValuesProblem } from '../values/values-error.ts';

export interface RepositoryCheck {
  readonly problems: readonly ValuesProblem[];
  /** YAML files below `env` that are no part of the values, whatever whoever wrote them thinks. */
  readonly unread: readonly string[];
}

/** What the operator would mend or overlook, and whoever reviews a change wants to know. */
export async function checkRepository(directory: string): Promise<RepositoryCheck> {
  const found = await findFiles(directory, new ParsedFiles());
  const isSealed = usesSops(directory);
  const problems: ValuesProblem[] = [];
  for (const file of found) {
    problems.push(...kindProblem(file));
    if (isSealed && isSecretFile(file.path)) problems.push(...(await secretProblem(directory, file.path)));
  }
  const read = new Set(found.map(({ path }) => path));
  return { problems, unread: yamlFilesBelow(directory).filter((path) => !read.has(path)) };
}

/** The folder says what a file is; one that says otherwise is in the wrong place. */
function kindProblem({ kind, path, parsed }: FoundFile): ValuesProblem[] {
  const said = valueAt(parsed.content, ['kind']);
  const isEncryptedToo = valueAt(parsed.content, ['sops']) !== undefined;
  if (said === undefined || said === kind.kind || isEncryptedToo) return [];
  const folder = path.slice(0, path.lastIndexOf('/'));
  const line = lineOf(parsed.document, parsed.lines, 'kind') ?? 1;
  return [{ file: path, line, path: 'kind', message: `must be ${kind.kind}, as ${folder} says` }];
}

/** The operator would encrypt it, but Git would keep what it was. */
async function secretProblem(directory: string, file: string): Promise<ValuesProblem[]> {
  const text = await readFile(join(directory, file), 'utf8');
  const problem = (message: string): ValuesProblem[] => [{ file, path: '', message }];
  if (!isEncrypted(text, 'yaml')) return problem(`is not encrypted; slipway sops encrypt -i ${file}`);
  try {
    describe(text, 'yaml');
    return [];
  } catch (error) {
    if (!(error instanceof SopsError)) throw error;
    return problem(`cannot be decrypted by anybody: ${error.message}`);
  }
}

function yamlFilesBelow(directory: string): string[] {
  const folders = foldersBelow(join(directory, 'env'), (path) => !isHidden(path) && !isTeamsOwn(path));
  return [...folders].flatMap(([folder, { files }]) =>
    files
      .filter((name) => /\.ya?ml(\.dec)?$/.test(name) && !isDecrypted(name))
      .map((name) => `env/${pathOf(folder, name)}`),
  );
}

/** Folders whose files are handed on as they are. */
function isTeamsOwn(path: string): boolean {
  const [top, , folder = ''] = path.split('/');
  return top === 'teams' && teamFolders.includes(folder);
}
