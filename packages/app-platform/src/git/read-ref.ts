import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const commitId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * The commit a reference is at, read from the files of the repository: a process for that takes longer than everything else an apply
 * does with one commit. `undefined` says nothing: the reference may be missing, or kept in a way we do not read; git knows.
 */
export async function readRef(directory: string, ref: string): Promise<string | undefined> {
  const text = await lineOf(join(directory, '.git', ref));
  if (text === undefined) return undefined;
  if (commitId.test(text)) return text;
  const target = /^ref: (refs\/heads\/[\w./-]+)$/.exec(text)?.[1];
  const commit = target?.includes('..') === false ? await lineOf(join(directory, '.git', target)) : undefined;
  return commit !== undefined && commitId.test(commit) ? commit : undefined;
}

async function lineOf(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').then(
    (text) => text.trimEnd(),
    () => undefined,
  );
}
