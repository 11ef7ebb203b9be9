/**
 * The keys that workers have now, with the moment each was taken. There are as few of them as workers, so they are looked
 * through one by one. A Map would make a new table every few keys, and old tables keep each other alive.
 */
export class RunningKeys {
  readonly #keys: string[] = [];
  readonly #starts: number[] = [];

  get size(): number {
    return this.#keys.length;
  }

  /** When each was taken, on the monotonic clock. */
  get starts(): readonly number[] {
    return this.#starts;
  }

  has(key: string): boolean {
    return this.#keys.includes(key);
  }

  begin(key: string, startedAt: number): void {
    this.#keys.push(key);
    this.#starts.push(startedAt);
  }

  /** When the key was taken; `undefined` if nobody has it. */
  end(key: string): number | undefined {
    const at = this.#keys.indexOf(key);
    if (at < 0) return undefined;
    const startedAt = this.#starts[at];
    const lastKey = this.#keys.pop()!;
    const lastStart = this.#starts.pop()!;
    if (at < this.#keys.length) {
      this.#keys[at] = lastKey;
      this.#starts[at] = lastStart;
    }
    return startedAt;
  }
}
