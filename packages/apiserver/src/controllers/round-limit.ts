import type { Clock } from '../clock.ts';

const WINDOW_MS = 10_000;
const MOST_ROUNDS = 1_000;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;
const REMEMBERED = 1_000;

interface Rounds {
  since: number;
  count: number;
  /** How often in a row the limit was met. */
  pauses: number;
}

/**
 * Finds keys that do not come to rest: two controllers, or two objects, that undo each other's work go round for ever. Each of them is
 * worked on at most 1,000 times in ten seconds, then once a second, later once a minute.
 */
export class RoundLimit {
  readonly #clock: Clock;
  readonly #rounds = new Map<string, Rounds>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one round of a key. Answers how many milliseconds it has to pause before it; 0 while it behaves. */
  pauseBefore(key: string): number {
    const now = this.#clock.now();
    const rounds = this.#rounds.get(key);
    if (!rounds || now - rounds.since > WINDOW_MS) {
      this.#remember(key, { since: now, count: 1, pauses: 0 });
      return 0;
    }
    rounds.count += 1;
    if (rounds.count <= MOST_ROUNDS) return 0;
    const pause = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** rounds.pauses);
    // After its pause it has one round, not another thousand.
    this.#remember(key, { since: now + pause, count: MOST_ROUNDS - 1, pauses: Math.min(rounds.pauses + 1, 20) });
    return pause;
  }

  #remember(key: string, rounds: Rounds): void {
    this.#rounds.delete(key);
    this.#rounds.set(key, rounds);
    if (this.#rounds.size > REMEMBERED) this.#rounds.delete(this.#rounds.keys().next().value!);
  }
}
