import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Timer } from '@slipway/kube';

import { type OutsideWork, waitsForTime } from './outside-work.ts';

/** How often to look again, a millisecond of the machine apart, when no timer is left that could change anything. */
const mostLooksInVain = 100;

interface Entry {
  at: number;
  order: number;
  callback: () => void;
}

/**
 * A clock that stands still until a test moves it. Timers fire in the order of their times; between two of them all work
 * that needs no time (promises, immediates) runs to its end.
 */
export class VirtualClock implements Clock {
  #now: number;
  #set = 0;
  #order = 0;
  readonly #timers = new Set<Entry>();
  readonly #outside: OutsideWork | undefined;

  /** Starts at `startMs` (epoch milliseconds). Default 2026-01-01T00:00:00Z. `outside`: work for which it stands still. */
  constructor(startMs: number = Date.UTC(2026, 0, 1), outside?: OutsideWork) {
    this.#now = startMs;
    this.#outside = outside;
  }

  now(): number {
    return this.#now + this.#set;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Somebody sets the clock forth, or back, by `ms`. No time passes: no timer fires for it. */
  set(ms: number): void {
    this.#set += ms;
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  schedule(delayMs: number, callback: () => void): Timer {
    const over = waitsForTime();
    const entry: Entry = {
      at: this.#now + Math.max(0, delayMs),
      order: this.#order++,
      callback() {
        over();
        callback();
      },
    };
    this.#timers.add(entry);
    return {
      cancel: () => {
        over();
        this.#timers.delete(entry);
      },
    };
  }

  /** Lets `ms` milliseconds pass: fires every timer due within them, including those set on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#settle();
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) {
      this.#fire(next);
      await this.#settle();
    }
    this.#now = end;
  }

  /** Lets time pass, timer by timer, until `predicate` holds. Fails after `limitMs` (default one day) of virtual time. */
  async runUntil(predicate: () => boolean | Promise<boolean>, limitMs = 86_400_000): Promise<void> {
    const end = this.#now + limitMs;
    let looksInVain = 0;
    for (;;) {
      await this.#settle();
      if (await predicate()) return;
      const next = this.#next();
      if (next && next.at <= end) {
        this.#fire(next);
        looksInVain = 0;
        continue;
      }
      // On a busy machine work that is done in slices takes more turns.
      if (looksInVain === mostLooksInVain)
        throw new Error(`virtual time: nothing left to wait for within ${limitMs} ms`);
      looksInVain += 1;
      await wait(1);
    }
  }

  async #settle(): Promise<void> {
    await turns();
    if (!this.#outside) return;
    await this.#outside.rests();
    await turns();
  }

  #next(): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of this.#timers) {
      if (!first || entry.at < first.at || (entry.at === first.at && entry.order < first.order)) first = entry;
    }
    return first;
  }

  #fire(entry: Entry): void {
    this.#timers.delete(entry);
    this.#now = Math.max(this.#now, entry.at);
    entry.callback();
  }
}

/** Several turns of the event loop: in-process requests need a handful of them to come to rest. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
