import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import { foldersBelow, pathOf, type Folder } from '../values/folders.ts';

/** What is in a working copy besides its repository. */
export class FilesOnDisk {
  readonly #root: string;
  readonly #folders: ReadonlyMap<string, Folder>;

  constructor(root: string) {
    this.#root = root;
    this.#folders = foldersBelow(root, (path) => path !== '.git');
  }

  /** Whether all of it belongs to these files: nothing beside them but what `mayStay`, and no folder without one of them. */
  hasOnly(tracked: ReadonlySet<string>, mayStay: (path: string) => boolean): boolean {
    const inUse = new Set(['']);
    for (const path of tracked) {
      for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
        const folder = path.slice(0, at);
        if (inUse.has(folder)) break;
        inUse.add(folder);
      }
    }
    return (
      [...this.#folders.keys()].every((folder) => inUse.has(folder)) &&
      this.#paths().every((path) => tracked.has(path) || mayStay(path))
    );
  }

  /** Of the files that `count` what tells whether one was replaced, without a look into it. */
  stamps(counts: (path: string) => boolean): ReadonlyMap<string, string> {
    const stamps = new Map<string, string>();
    for (const path of this.#paths()) {
      if (!counts(path)) continue;
      const info = lstatSync(join(this.#root, path), { bigint: true, throwIfNoEntry: false });
      stamps.set(path, info ? `${info.ino} ${info.size} ${info.mtimeNs} ${info.mode}` : '');
    }
    return stamps;
  }

  #paths(): string[] {
    return [...this.#folders].flatMap(([folder, { files, others }]) =>
      [...files, ...others].map((name) => pathOf(folder, name)),
    );
  }
}
