import { readFile } from 'node:fs/promises';

import { RepositoryError } from './repository-error.ts';

/** The text of a file of the user's; nothing when there is none. */
export async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new RepositoryError('Refused', `cannot read ${path}: ${code}`, { cause: error });
  }
}

/** What a file holds. The text is not part of the error: these files hold passwords. */
export function parsedFile<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new RepositoryError('Refused', `${path} cannot be read: it is neither YAML nor JSON`, {
      hint: 'correct the file, or make it again with helm',
    });
  }
}
