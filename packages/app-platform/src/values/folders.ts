import { readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';

/** What is in a folder, by name and in order. */
export interface Folder {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** Links and the like. */
  readonly others: readonly string[];
}

/**
 * The folders below one, itself as `''`, by their path from there; where there is none, nothing. An apply looks at thousands of
 * them a dozen times over: waiting for a thread each time took longer than everything else together, so these calls do not wait.
 */
export function foldersBelow(root: string, isMeant: (path: string) => boolean): ReadonlyMap<string, Folder> {
  const found = new Map<string, Folder>();
  const enter = (path: string): void => {
    const entries = entriesIn(join(root, path));
    if (!entries) return;
    const names = (isWanted: (entry: Dirent) => boolean): string[] =>
      entries
        .filter(isWanted)
        .map(({ name }) => name)
        .sort();
    const folders = names((entry) => entry.isDirectory() && isMeant(pathOf(path, entry.name)));
    found.set(path, {
      files: names((entry) => entry.isFile()),
      folders,
      others: names((entry) => !entry.isFile() && !entry.isDirectory()),
    });
    for (const name of folders) enter(pathOf(path, name));
  };
  enter('');
  return found;
}

/** A path below a folder of {@link foldersBelow}. */
export function pathOf(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

export function isHidden(path: string): boolean {
  return path.startsWith('.', path.lastIndexOf('/') + 1);
}

function entriesIn(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
