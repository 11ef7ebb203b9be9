import type { Clock } from '../clock.ts';

/** Lets the event loop turn: runs `callback` after I/O has had its chance. */
export type YieldToLoop = (callback: () => void) => void;

export const yieldToLoop: YieldToLoop = (callback) => {
  setImmediate(callback);
};

/** Longest stretch of work between two turns of the event loop, in milliseconds. */
const sliceMs = 5;

/** How long work has gone on without letting the event loop turn. */
export class TimeSlice {
  readonly #clock: Clock;
  #until: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#until = clock.monotonic() + sliceMs;
  }

  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#until;
  }

  renew(): void {
    this.#until = this.#clock.monotonic() + sliceMs;
  }
}
