import { readdirSync, readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { shellPattern } from '../chart/shell-pattern.ts';
import { bytesToText, utf8Compare } from '../go/bytes.ts';
import { mostValueBytes } from '../values/read-values-file.ts';
import { HelmfileError } from './helmfile-error.ts';

export interface TreeEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

/**
 * The files a helmfile is made of. Reading is synchronous because templates read while they run. Every file is read once
 * per load, so that all layers see the same tree.
 *
 * What the state names (values, bases, nested states) may lie anywhere; a template may read only below the roots.
 */
export class TreeFiles {
  readonly #roots = new Set<string>();
  readonly #texts = new Map<string, string | undefined>();
  readonly #lists = new Map<string, TreeEntry[] | undefined>();

  constructor(roots: readonly string[]) {
    for (const root of roots) this.addRoot(root);
  }

  /** Lets templates read below a directory. */
  addRoot(directory: string): void {
    this.#roots.add(realPath(resolve(directory)));
  }

  get roots(): readonly string[] {
    return [...this.#roots].sort(utf8Compare);
  }

  /** The text of a file; `undefined` when there is none. */
  find(path: string): string | undefined {
    if (!this.#texts.has(path)) this.#texts.set(path, readText(path));
    return this.#texts.get(path);
  }

  isFile(path: string): boolean {
    return infoOf(path)?.isFile() ?? false;
  }

  isDirectory(path: string): boolean {
    return infoOf(path)?.isDirectory() ?? false;
  }

  /** Entries of a directory by name; `undefined` when there is none. */
  list(path: string): TreeEntry[] | undefined {
    if (!this.#lists.has(path)) this.#lists.set(path, this.isDirectory(path) ? readEntries(path) : undefined);
    return this.#lists.get(path);
  }

  /**
   * Paths a pattern matches, in order; a path without wildcards matches itself when it is there. `looked` is told of every
   * path the answer depends on.
   */
  glob(pattern: string, looked: (path: string) => void = () => {}): string[] {
    if (!/[*?[\\]/.test(pattern)) {
      looked(pattern);
      return infoOf(pattern) ? [pattern] : [];
    }
    const last = shellPattern(basename(pattern));
    if (!last) return [];
    return this.glob(dirname(pattern), looked)
      .flatMap((parent) => {
        looked(parent);
        return (this.list(parent) ?? []).filter((entry) => last(entry.name)).map((entry) => join(parent, entry.name));
      })
      .sort(utf8Compare);
  }

  /** Refuses a path outside the roots, for what a template reads by itself. */
  guard(path: string, caller: string): void {
    const target = realPath(path);
    for (const root of this.#roots) {
      const below = relative(root, target);
      if (below === '' || (!below.startsWith('..') && !isAbsolute(below))) return;
    }
    throw new HelmfileError('Forbidden', `${caller} ${JSON.stringify(path)}: the path is outside the tree`, {
      hint: 'move the file into the tree, or name a wider root',
    });
  }
}

function readEntries(path: string): TreeEntry[] {
  return readable(path, () => readdirSync(path, { withFileTypes: true }))
    .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
    .sort((a, b) => utf8Compare(a.name, b.name));
}

function readText(path: string): string | undefined {
  const info = infoOf(path);
  if (!info || info.isDirectory()) return undefined;
  // A device has no end, and nobody may ever write into a pipe.
  if (!info.isFile()) throw new HelmfileError('InvalidState', `${path} is no regular file`);
  if (info.size > mostValueBytes)
    throw new HelmfileError(
      'InvalidState',
      `${path} has ${info.size} bytes; a file of a helmfile has at most ${mostValueBytes}`,
    );
  return bytesToText(readable(path, () => readFileSync(path)));
}

function infoOf(path: string): Stats | undefined {
  return readable(path, () => statSync(path, { throwIfNoEntry: false }));
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new HelmfileError('InvalidState', `${path} cannot be read (${code})`, {
      cause,
      hint: 'look at the path, and at who may read it',
    });
  }
}

/** Where a path really leads; what does not exist yet is judged by the nearest directory that does. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
