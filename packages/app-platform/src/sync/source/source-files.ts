import { posix } from 'node:path';

import type { Checkout } from './checkout.ts';
import { SourceError } from './source-error.ts';

/** Files as a chart's source names them: below its folder, with a slash below its repository, as `$ref/path` below that of another source. */
export class SourceFiles {
  readonly #checkout: Checkout;
  readonly #folder: string;
  readonly #refs: ReadonlyMap<string, Checkout>;

  constructor(checkout: Checkout, folder: string, refs: ReadonlyMap<string, Checkout>) {
    this.#checkout = checkout;
    this.#folder = folder;
    this.#refs = refs;
  }

  async has(name: string): Promise<boolean> {
    const { checkout, path } = this.#place(name);
    return (await checkout.find(path)) !== undefined;
  }

  async text(name: string): Promise<string> {
    const { checkout, path } = this.#place(name);
    return await checkout.text(path);
  }

  #place(name: string): { readonly checkout: Checkout; readonly path: string } {
    if (!name.startsWith('$')) {
      const path = name.startsWith('/') ? posix.normalize(name) : posix.join(this.#folder, name);
      return { checkout: this.#checkout, path };
    }
    const end = name.indexOf('/');
    const checkout = this.#refs.get(name.slice(1, end));
    if (end < 0 || !checkout)
      throw new SourceError('InvalidSpec', `'${name}': no source has this ref; give one of spec.sources that name`);
    return { checkout, path: name.slice(end + 1) };
  }
}
