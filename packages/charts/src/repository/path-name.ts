import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';

import { RepositoryError } from './repository-error.ts';

/** A name that becomes a part of a path. One that would lead elsewhere, on this system or on another, is refused. */
export function pathName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters that are refused
  if (name === '' || name === '.' || name === '..' || /[/\\\x00-\x1f\x7f]|^[A-Za-z]:/.test(name))
    throw new RepositoryError('Refused', `${JSON.stringify(name)} is no name of a chart`, {
      hint: 'a name has no separators in it; a chart beside this one is reached with repository: file://../name',
    });
  return name;
}

/** Whether a file or folder is in the folder it seems to be in, whatever links are on the way. */
export async function isWithin(folder: string, path: string): Promise<boolean> {
  const [root, real] = await Promise.all([realpath(folder), realpath(path)]).catch(() => []);
  return root !== undefined && real !== undefined && real.startsWith(root + sep);
}
