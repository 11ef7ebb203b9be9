import type { Entry } from './entry.ts';

/** The keys of a set in order. They are sorted when somebody lists; from then on additions find their place by bisection. */
export class SortedKeys {
  #keys: string[] | undefined;

  get(entries: Iterable<Entry>): readonly string[] {
    if (this.#keys === undefined) {
      this.#keys = [];
      for (const { key } of entries) this.#keys.push(key);
      this.#keys.sort();
    }
    return this.#keys;
  }

  add(key: string): void {
    if (this.#keys === undefined) return;
    const at = this.#place(key);
    if (this.#keys[at] !== key) this.#keys.splice(at, 0, key);
  }

  remove(key: string): void {
    if (this.#keys === undefined) return;
    const at = this.#place(key);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  reset(): void {
    this.#keys = undefined;
  }

  #place(key: string): number {
    const keys = this.#keys!;
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
