import { ApiError } from '../api-error.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Log } from './controller.ts';
import { RoundLimit } from './round-limit.ts';

const FIRST_RETRY_MS = 5;
const LAST_RETRY_MS = 60_000;
/** So many keys are worked on before requests, timers and sockets have their turn. */
const KEYS_PER_TURN = 200;

export interface WorkQueueOptions {
  /** Used in log lines. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Brings one key to where it should be. A failure is tried again: after 5 ms, then twice as long each time, up to a minute. */
  readonly process: (key: string) => Promise<void>;
}

/** Keys to work on, each at most once in the queue, one at a time. However much there is to do, the event loop goes on turning. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #timers = new Map<string, { due: number; timer: Timer }>();
  readonly #failures = new Map<string, number>();
  readonly #limit: RoundLimit;
  /** Keys that do not come to rest and have to wait. */
  readonly #paused = new Set<string>();
  #doneInThisTurn = 0;
  #running = false;
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#limit = new RoundLimit(options.clock);
  }

  add(key: string): void {
    if (this.#stopped || this.#paused.has(key)) {
      return;
    }
    this.#waiting.add(key);
    if (!this.#running) {
      this.#running = true;
      queueMicrotask(() => void this.#run());
    }
  }

  /** Adds `key` after `delayMs`; an earlier appointment of the same key stands. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stopped) {
      return;
    }
    const due = this.#options.clock.now() + delayMs;
    const appointment = this.#timers.get(key);
    if (appointment && appointment.due <= due) {
      return;
    }
    appointment?.timer.cancel();
    const timer = this.#options.clock.schedule(delayMs, () => {
      this.#timers.delete(key);
      this.#paused.delete(key);
      this.add(key);
    });
    this.#timers.set(key, { due, timer });
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
    for (const { timer } of this.#timers.values()) {
      timer.cancel();
    }
    this.#timers.clear();
  }

  async #run(): Promise<void> {
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      if (this.#mustPause(key)) {
        continue;
      }
      await this.#turn();
      if (this.#stopped) {
        return;
      }
      try {
        await this.#options.process(key);
        this.#failures.delete(key);
      } catch (error) {
        this.#retry(key, error);
      }
      if (this.#stopped) {
        return;
      }
    }
    this.#running = false;
  }

  /** Promises alone never let the event loop turn. */
  async #turn(): Promise<void> {
    if (this.#doneInThisTurn === 0) {
      setImmediate(() => {
        this.#doneInThisTurn = 0;
      }).unref();
    }
    this.#doneInThisTurn += 1;
    if (this.#doneInThisTurn > KEYS_PER_TURN) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  }

  #mustPause(key: string): boolean {
    const pauseMs = this.#limit.pauseBefore(key);
    if (pauseMs === 0) {
      return false;
    }
    this.#options.log(
      `${this.#options.name}: ${key} does not come to rest: something undoes what is done to it; the next try is in ${pauseMs / 1_000} s`,
    );
    this.addAfter(key, pauseMs);
    this.#paused.add(key);
    return true;
  }

  #retry(key: string, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    // Somebody else wrote in between: what this controller saw is old, the next look will be right.
    if (error instanceof ApiError && error.status.code === 409 && failures <= 5) {
      this.add(key);
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    this.#options.log(`${this.#options.name}: ${key}: ${message}`, { failures });
    this.addAfter(key, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20)));
  }
}
