import type { Clock, Timer } from './clock.ts';

interface Pending {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/**
 * Time that moves only when told to. Timers fire in the order of their due time; after each one the event loop is drained, so
 * everything an in-process server and its controllers do in reaction has happened before the next timer fires.
 */
export class VirtualClock implements Clock {
  #now: number;
  #order = 0;
  #pending: Pending[] = [];

  /** @param startMs epoch milliseconds to begin at; default 2030-01-01T00:00:00Z. */
  constructor(startMs: number = 1_893_456_000_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  schedule(delayMs: number, callback: () => void): Timer {
    const pending: Pending = {
      due: this.#now + Math.max(0, delayMs),
      order: this.#order++,
      callback,
      cancelled: false,
    };
    this.#pending.push(pending);
    return {
      cancel: () => {
        pending.cancelled = true;
        this.#pending = this.#pending.filter((other) => other !== pending);
      },
    };
  }

  /** How many timers wait. */
  get pendingTimers(): number {
    return this.#pending.length;
  }

  /** Lets `ms` milliseconds pass, firing what falls due on the way, and drains the event loop. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await this.settle();
    for (let next = this.#next(); next && next.due <= target; next = this.#next()) {
      this.#fire(next);
      await this.settle();
    }
    this.#now = Math.max(this.#now, target);
  }

  /** Fires timers until none is left or `limitMs` (default one day) has passed; returns the milliseconds that passed. */
  async runAll(limitMs: number = 86_400_000): Promise<number> {
    const start = this.#now;
    await this.settle();
    for (let next = this.#next(); next && next.due <= start + limitMs; next = this.#next()) {
      this.#fire(next);
      await this.settle();
    }
    return this.#now - start;
  }

  /** Moves time from timer to timer until `condition` holds; throws when it does not within `limitMs` (default one hour). */
  async until(condition: () => boolean | Promise<boolean>, limitMs: number = 3_600_000): Promise<void> {
    const start = this.#now;
    await this.settle();
    while (!(await condition())) {
      const next = this.#next();
      if (!next || next.due > start + limitMs) {
        throw new Error(`the condition did not come true within ${limitMs} ms of virtual time`);
      }
      this.#fire(next);
      await this.settle();
    }
  }

  /** Drains the event loop without moving time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 25; turn++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  #next(): Pending | undefined {
    let first: Pending | undefined;
    for (const pending of this.#pending) {
      if (!first || pending.due < first.due || (pending.due === first.due && pending.order < first.order)) {
        first = pending;
      }
    }
    return first;
  }

  #fire(pending: Pending): void {
    this.#pending = this.#pending.filter((other) => other !== pending);
    this.#now = Math.max(this.#now, pending.due);
    if (!pending.cancelled) {
      pending.callback();
    }
  }
}
