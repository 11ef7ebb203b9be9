/** Something that is tried until it gives something truthy; remembers what it gave, and what it threw last. */
export class Attempt<T> {
  readonly #what: string;
  readonly #check: () => T | Promise<T>;
  #value: T | undefined;
  #error: unknown;

  constructor(what: string, check: () => T | Promise<T>) {
    this.#what = what;
    this.#check = check;
  }

  async succeeds(): Promise<boolean> {
    try {
      this.#value = await this.#check();
      this.#error = undefined;
    } catch (error) {
      this.#value = undefined;
      this.#error = error;
    }
    return Boolean(this.#value);
  }

  result(): NonNullable<T> {
    return this.#value as NonNullable<T>;
  }

  failure(cause: unknown): Error {
    const detail = this.#error instanceof Error ? `: ${this.#error.message}` : '';
    return new Error(`waited in vain: ${this.#what}${detail}`, { cause: this.#error ?? cause });
  }
}
