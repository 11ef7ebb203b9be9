import { createHash } from 'node:crypto';
import { deepCopy, type Value } from '../go/values.ts';
import type { LoadedPart } from './load-state.ts';

interface Layer {
  readonly part: LoadedPart;
  /** What it read or asked about, and what it found then. */
  readonly touched: ReadonlyMap<string, string>;
}

/**
 * Layers and parsed documents by the hash of what they were made from: text, values so far, directory. Most states of a
 * tree begin with the same bases, and most loads of a tree change nothing. A layer is good as long as the files it read
 * are the same. Share one cache between loads to keep it warm.
 */
export class HelmfileCache {
  readonly #layers = new Map<string, Layer>();
  readonly #documents = new Map<string, Value>();
  #size = 0;
  static readonly maxSize = 64 * 1024 * 1024;

  static key(...parts: readonly string[]): string {
    const hash = createHash('sha256');
    for (const part of parts) hash.update(String(part.length)).update('\0').update(part);
    return hash.digest('base64');
  }

  /** A layer that was kept, if `look` still finds what it found; `touch` is told what it depends on. */
  layer(key: string, look: (path: string) => string, touch: (path: string) => void): LoadedPart | undefined {
    const found = this.#layers.get(key);
    if (!found) return undefined;
    for (const [path, state] of found.touched) if (look(path) !== state) return undefined;
    for (const path of found.touched.keys()) touch(path);
    return found.part;
  }

  keepLayer(key: string, layer: Layer, size: number): void {
    this.#grow(size);
    this.#layers.set(key, layer);
  }

  /** A parsed document; the caller may change what it gets. */
  document(text: string, parse: () => Value): Value {
    const key = HelmfileCache.key(text);
    let known = this.#documents.get(key);
    if (known === undefined) {
      known = parse();
      this.#grow(text.length);
      this.#documents.set(key, known);
    }
    return deepCopy(known);
  }

  #grow(size: number): void {
    this.#size += size;
    if (this.#size <= HelmfileCache.maxSize) return;
    // What is still used comes back with the next load.
    this.#layers.clear();
    this.#documents.clear();
    this.#size = size;
  }
}
