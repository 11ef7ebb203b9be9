import type { Entry } from './entry.ts';

/** All objects of one storage id, found by key and listed in key order. */
export class Table {
  readonly #entries = new Map<string, Entry>();
  readonly #keys: string[] = [];

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  set(entry: Entry): void {
    if (!this.#entries.has(entry.key)) this.#keys.splice(this.#position(entry.key), 0, entry.key);
    this.#entries.set(entry.key, entry);
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#keys.splice(this.#position(key), 1);
  }

  /** Entries in key order, those of one namespace only when `namespace` is not empty. */
  *list(namespace: string): Generator<Entry> {
    const prefix = namespace ? `${namespace}/` : '';
    for (let index = this.#position(prefix); index < this.#keys.length; index += 1) {
      const key = this.#keys[index]!;
      if (!key.startsWith(prefix)) return;
      yield this.#entries.get(key)!;
    }
  }

  /** The same as an array; faster for large answers. */
  array(namespace: string): Entry[] {
    const prefix = namespace ? `${namespace}/` : '';
    const entries: Entry[] = [];
    for (let index = prefix ? this.#position(prefix) : 0; index < this.#keys.length; index += 1) {
      const key = this.#keys[index]!;
      if (!key.startsWith(prefix)) break;
      entries.push(this.#entries.get(key)!);
    }
    return entries;
  }

  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
