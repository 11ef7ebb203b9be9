import type { Random } from '../random.ts';

export interface BackOffOptions {
  /** Longest first delay. Default 800 ms. */
  baseMs?: number;
  /** Longest delay ever. Default 30 000 ms. */
  maxMs?: number;
  /** A connection that was healthy for so long makes the next failure a first one. Default 120 000 ms. */
  resetAfterMs?: number;
}

/** Nothing comes back sooner than this, however the dice fall. */
const floorMs = 50;

/** Delays that double from failure to failure, each drawn between (nearly) nothing and its limit so that clients spread out. */
export class BackOff {
  readonly #random: Random;
  readonly #baseMs: number;
  readonly #maxMs: number;
  readonly #resetAfterMs: number;
  #failures = 0;

  constructor(random: Random, options: BackOffOptions = {}) {
    this.#random = random;
    this.#baseMs = options.baseMs ?? 800;
    this.#maxMs = options.maxMs ?? 30_000;
    this.#resetAfterMs = options.resetAfterMs ?? 120_000;
  }

  /** The connection that just ended was healthy for `healthyMs`. */
  wasHealthy(healthyMs: number): void {
    if (healthyMs >= this.#resetAfterMs) this.#failures = 0;
  }

  next(): number {
    const limit = Math.min(this.#maxMs, this.#baseMs * 2 ** Math.min(this.#failures, 16));
    this.#failures += 1;
    return Math.max(floorMs, limit * this.#random.next());
  }
}
