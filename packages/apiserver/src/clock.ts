/**
 * Where the server's time comes from. It has the same shape as the clock of the runtime, so one virtual clock drives both,
 * but it is declared here because the server shares no code with the clients it tests.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `callback` once after `delayMs` milliseconds; the returned timer can be cancelled any number of times. */
  schedule(delayMs: number, callback: () => void): Timer;
}

/** A pending call made with {@link Clock.schedule}. */
export interface Timer {
  cancel(): void;
}

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    // Node fires timers above 2^31-1 ms at once; a day is as good as "later" for anything a controller waits for.
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), 86_400_000));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** The same clock, with callbacks that may fail: what one throws is told to `report` instead of ending the process. */
export function guardedClock(clock: Clock, report: (error: unknown) => void): Clock {
  return {
    now: () => clock.now(),
    schedule: (delayMs, callback) =>
      clock.schedule(delayMs, () => {
        try {
          callback();
        } catch (error) {
          report(error);
        }
      }),
  };
}

/** The RFC 3339 text Kubernetes uses for `metav1.Time`: UTC, whole seconds. */
export function kubeTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** The RFC 3339 text Kubernetes uses for `metav1.MicroTime`: UTC, six decimals. */
export function kubeMicroTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 23)}000Z`;
}
