import type { Clock } from '../../src/clock.ts';

/** A clock on which every look costs a millisecond: work can be cut into slices without real time. */
export function makeCountingClock(): Clock & { looks: number } {
  return {
    looks: 0,
    now() {
      return this.monotonic();
    },
    monotonic() {
      this.looks += 1;
      return this.looks;
    },
    schedule: () => ({ cancel: () => {} }),
  };
}
