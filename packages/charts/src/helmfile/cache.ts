import { createHash } from 'node:crypto';
import { RecentlyUsed } from '../go/recently-used.ts';
import { deepCopy, isMap, type Value } from '../go/values.ts';
import type { LoadedPart } from './load-state.ts';

interface Layer {
  readonly part: LoadedPart;
  /** What it read or asked about, and what it found then. */
  readonly touched: ReadonlyMap<string, string>;
}

/** In bytes. A tree of some 80 releases takes a sixth of it. */
const usualSize = 64 * 1024 * 1024;

/**
 * Layers and parsed documents by the hash of what they were made from: text, values so far, directory. Most states of a
 * tree begin with the same bases, and most loads of a tree change nothing. A layer is good as long as the files it read
 * are the same. Share one cache between loads to keep it warm.
 */
export class HelmfileCache {
  readonly #layers: RecentlyUsed<Layer>;
  readonly #documents: RecentlyUsed<Value>;

  /** @param maxSize about how many bytes of memory it may take */
  constructor(maxSize = usualSize) {
    this.#layers = new RecentlyUsed(maxSize / 2);
    this.#documents = new RecentlyUsed(maxSize / 2);
  }

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

  keepLayer(key: string, layer: Layer): void {
    const { spec, environment } = layer.part;
    const { values, defaults, set } = environment;
    this.#layers.keep(key, layer, memoryOf([spec, values, defaults, set, new Map(layer.touched)]));
  }

  /** A parsed document; the caller may change what it gets. */
  document(text: string, parse: () => Value): Value {
    const key = HelmfileCache.key(text);
    let known = this.#documents.get(key);
    if (known === undefined) {
      known = parse();
      this.#documents.keep(key, known, memoryOf(known));
    }
    return deepCopy(known);
  }
}

/** About how many bytes a value takes. What several share counts for each of them. */
function memoryOf(value: Value): number {
  if (typeof value === 'string') return 16 + value.length;
  if (Array.isArray(value)) return value.reduce<number>((size, item) => size + 8 + memoryOf(item), 64);
  if (!isMap(value)) return 16;
  let size = 128;
  for (const [key, item] of value) size += 32 + memoryOf(key) + memoryOf(item);
  return size;
}
