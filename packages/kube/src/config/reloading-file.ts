import type { Clock } from '../clock.ts';

export type ReadFile = (path: string) => Promise<string>;

/**
 * The content of a file that somebody else replaces now and then (a token, a CA bundle): read again at most every
 * `intervalMs`. A file that cannot be read for a moment keeps its last content.
 */
export class ReloadingFile {
  readonly path: string;
  readonly #readFile: ReadFile;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #content: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<string> | undefined;

  constructor(path: string, options: { readFile: ReadFile; clock: Clock; intervalMs?: number }) {
    this.path = path;
    this.#readFile = options.readFile;
    this.#clock = options.clock;
    this.#intervalMs = options.intervalMs ?? 60_000;
  }

  async content(options: { fresh?: boolean } = {}): Promise<string> {
    const age = this.#clock.monotonic() - this.#readAt;
    if (this.#content !== undefined && !options.fresh && age < this.#intervalMs) return this.#content;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<string> {
    try {
      this.#content = await this.#readFile(this.path);
      this.#readAt = this.#clock.monotonic();
    } catch (error) {
      if (this.#content === undefined) throw error;
    }
    return this.#content;
  }
}
