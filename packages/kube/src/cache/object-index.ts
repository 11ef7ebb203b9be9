import type { Entry } from './entry.ts';

/**
 * Finds entries by values computed from them. It is brought up to date when it is asked, not when objects change: a burst
 * of changes to one object costs one computation, and an index nobody uses costs none.
 */
export class ObjectIndex {
  readonly #valuesOf: (entry: Entry) => readonly string[];
  readonly #byValue = new Map<string, Set<Entry>>();
  readonly #values = new Map<Entry, readonly string[]>();
  #stale = new Set<Entry>();

  constructor(valuesOf: (entry: Entry) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  add(entry: Entry): void {
    this.#stale.add(entry);
  }

  remove(entry: Entry): void {
    if (this.#stale.delete(entry)) return;
    const values = this.#values.get(entry);
    if (values === undefined) return;
    this.#values.delete(entry);
    for (const value of values) {
      const found = this.#byValue.get(value);
      found?.delete(entry);
      if (found?.size === 0) this.#byValue.delete(value);
    }
  }

  /** Forgets everything and starts from `entries`. */
  reset(entries: Iterable<Entry>): void {
    this.#byValue.clear();
    this.#values.clear();
    this.#stale = new Set(entries);
  }

  /** Computes what is missing until `pause` says to stop; true when nothing is missing. */
  update(pause: () => boolean): boolean {
    for (const entry of this.#stale) {
      this.#stale.delete(entry);
      const values = this.#valuesOf(entry);
      if (values.length > 0) {
        this.#values.set(entry, values);
        for (const value of values) {
          const found = this.#byValue.get(value);
          if (found) found.add(entry);
          else this.#byValue.set(value, new Set([entry]));
        }
      }
      if (pause()) return this.#stale.size === 0;
    }
    return true;
  }

  find(value: string): ReadonlySet<Entry> {
    return this.#byValue.get(value) ?? none;
  }
}

const none: ReadonlySet<Entry> = new Set();
