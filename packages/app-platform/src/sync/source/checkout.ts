import { readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

import { SourceError } from './source-error.ts';

/** Files of a commit. Whatever a path or a link says, nothing outside of the repository is read. */
export class Checkout {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Of a folder or file below the root; `undefined` when there is none. */
  async find(path: string): Promise<string | undefined> {
    const root = await realpath(this.#root);
    const real = await realpath(join(root, path)).catch(() => undefined);
    if (real === undefined) return undefined;
    if (real !== root && !real.startsWith(root + sep))
      throw new SourceError('InvalidSpec', `${path} leads out of the repository`);
    return real;
  }

  async folder(path: string): Promise<string> {
    const found = await this.find(path);
    if (found === undefined || !(await stat(found)).isDirectory())
      throw new SourceError('InvalidSource', `${path}: the repository has no such folder in this revision`);
    return found;
  }

  async text(path: string): Promise<string> {
    const found = await this.find(path);
    if (found === undefined)
      throw new SourceError('InvalidSource', `${path}: the repository has no such file in this revision`);
    return await readFile(found, 'utf8');
  }

  /** A path as people know it. */
  async nameOf(real: string): Promise<string> {
    return relative(await realpath(this.#root), real);
  }
}
