import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storageError } from './store/storage-error.ts';

/** Private keys kept beside the data of a cluster, readable by their owner only. */
export interface KeyFiles {
  /** Where a key lies, for messages. */
  path(name: string): string;
  read(name: string): string | undefined;
  /** Returns when the file is whole: a process that dies on the way leaves the old one or none. */
  write(name: string, text: string): void;
}

export function keyFilesIn(directory: string): KeyFiles {
  const path = (name: string) => join(directory, name);
  return {
    path,
    read(name) {
      try {
        return readFileSync(path(name), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    write(name, text) {
      const unfinished = `${path(name)}.new`;
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeFileSync(unfinished, text, { mode: 0o600 });
        // The mode counts only for new files; one left behind by somebody else keeps its own.
        chmodSync(unfinished, 0o600);
        renameSync(unfinished, path(name));
      } catch (error) {
        throw storageError(error, path(name));
      }
    },
  };
}
