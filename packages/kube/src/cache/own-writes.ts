import type { Clock, Timer } from '../clock.ts';
import type { Version } from '../reflector/resource-version.ts';

/** A write that the cache has perhaps not seen yet. */
export interface OwnWrite {
  readonly key: string;
  /** The version the write produced; absent for a deletion. */
  readonly version: Version | undefined;
  /** For a deletion: which object was deleted. */
  readonly uid: string | undefined;
  readonly deadline: number;
}

interface Waiter {
  readonly key: string | undefined;
  readonly resolve: () => void;
  timer: Timer;
}

/**
 * Remembers what this process wrote until the watch has shown it, so that a read after a write can wait for it. The wait
 * is bounded from the moment of the write: one write delays reads by `waitMs` at most, all of them together.
 */
export class OwnWrites {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #isSeen: (write: OwnWrite) => boolean;
  readonly #onTimeout: (write: OwnWrite) => void;
  readonly #pending = new Map<string, OwnWrite>();
  readonly #waiters = new Set<Waiter>();

  constructor(options: {
    clock: Clock;
    waitMs: number;
    isSeen: (write: OwnWrite) => boolean;
    onTimeout: (write: OwnWrite) => void;
  }) {
    this.#clock = options.clock;
    this.#waitMs = options.waitMs;
    this.#isSeen = options.isSeen;
    this.#onTimeout = options.onTimeout;
  }

  get size(): number {
    return this.#pending.size;
  }

  add(key: string, version: Version | undefined, uid: string | undefined): void {
    if (this.#waitMs <= 0) return;
    const write: OwnWrite = { key, version, uid, deadline: this.#clock.monotonic() + this.#waitMs };
    // Forgets what nobody asked about; without this a process that only writes would remember for ever.
    for (const [otherKey, other] of this.#pending) {
      if (other.deadline > this.#clock.monotonic()) break;
      this.#pending.delete(otherKey);
    }
    this.#pending.delete(key);
    if (version !== undefined && this.#isSeen(write)) return;
    this.#pending.set(key, write);
  }

  /** Resolves when the writes to `key` (or all of them) have been seen, or their time is up. `undefined`: nothing to wait for. */
  seen(key: string | undefined): Promise<void> | undefined {
    if (this.#pending.size === 0) return undefined;
    const deadline = this.#unseenUntil(key);
    if (deadline === undefined) return undefined;
    return new Promise((resolve) => {
      const waiter: Waiter = { key, resolve, timer: this.#schedule(deadline, () => this.#check(waiter)) };
      this.#waiters.add(waiter);
    });
  }

  /** The store has moved on. */
  progressed(): void {
    for (const waiter of this.#waiters) this.#check(waiter);
  }

  stop(): void {
    for (const waiter of this.#waiters) {
      waiter.timer.cancel();
      waiter.resolve();
    }
    this.#waiters.clear();
    this.#pending.clear();
  }

  #check(waiter: Waiter): void {
    const deadline = this.#unseenUntil(waiter.key);
    if (deadline === undefined) {
      waiter.timer.cancel();
      this.#waiters.delete(waiter);
      waiter.resolve();
      return;
    }
    // A later write may have pushed the limit back.
    waiter.timer.cancel();
    waiter.timer = this.#schedule(deadline, () => this.#check(waiter));
  }

  #schedule(deadline: number, callback: () => void): Timer {
    return this.#clock.schedule(Math.max(0, deadline - this.#clock.monotonic()), callback);
  }

  /** The latest deadline among the writes that are not seen yet; drops the others. */
  #unseenUntil(key: string | undefined): number | undefined {
    if (key !== undefined) {
      const write = this.#pending.get(key);
      return write === undefined || this.#isSettled(write) ? undefined : write.deadline;
    }
    let latest: number | undefined;
    for (const write of this.#pending.values()) {
      if (!this.#isSettled(write)) latest = Math.max(latest ?? write.deadline, write.deadline);
    }
    return latest;
  }

  #isSettled(write: OwnWrite): boolean {
    const late = this.#clock.monotonic() >= write.deadline;
    if (this.#isSeen(write)) {
      // A deletion counts as seen while the object is absent, but its creation may still be on the way: keep it until its time is up.
      if (write.version !== undefined || late) this.#pending.delete(write.key);
      return true;
    }
    if (!late) return false;
    this.#pending.delete(write.key);
    this.#onTimeout(write);
    return true;
  }
}
