/** What was used lately, up to a size: what was not used for longest goes first. */
export class RecentlyUsed<T> {
  readonly #maxSize: number;
  readonly #kept = new Map<string, { readonly value: T; readonly size: number }>();
  #size = 0;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(key: string): T | undefined {
    const known = this.#kept.get(key);
    if (!known) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, known);
    return known.value;
  }

  keep(key: string, value: T, size: number): void {
    this.#drop(key);
    if (size > this.#maxSize) return;
    this.#size += size;
    this.#kept.set(key, { value, size });
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#maxSize) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}
