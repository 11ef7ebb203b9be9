import { uptime } from 'node:os';

import { elapsedTime } from './elapsed-time.ts';

/**
 * Where time comes from. Everything below the command line takes a `Clock`, so that a test can let twenty minutes pass
 * in a millisecond.
 */
export interface Clock {
  /** Milliseconds since the epoch: for what people and other machines read. It jumps when somebody sets the clock. */
  now(): number;
  /** Milliseconds from some moment on, never set back or forth, counting on while the machine sleeps: for how long something took. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs` milliseconds; the returned timer can be cancelled any number of times. */
  schedule(delayMs: number, callback: () => void): Timer;
}

/** A pending call made with {@link Clock.schedule}. */
export interface Timer {
  cancel(): void;
  /** Keeps the process alive until then. Absent where timers are no matter of the process. */
  hold?(): void;
}

/** From when it is first asked: Node loads `performance` for it, and a command that renders a file never asks. */
let elapsed: (() => number) | undefined;

function elapsedHere(): () => number {
  return elapsedTime({
    running: () => performance.now(),
    wall: () => Date.now(),
    // Elsewhere `performance.now` counts on during a sleep by itself.
    sinceBoot: process.platform === 'linux' ? () => uptime() * 1000 : undefined,
  });
}

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => (elapsed ??= elapsedHere())(),
  schedule(delayMs, callback) {
    // Node fires timers above 2^31-1 ms at once; a day is as good as "later" for anything a controller waits for.
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), 86_400_000));
    timer.unref();
    return { cancel: () => clearTimeout(timer), hold: () => void timer.ref() };
  },
};

/**
 * Resolves after `delayMs` on `clock`; rejects with the signal's reason when it aborts first.
 *
 * @param holds whether the process is to live until then: for a pause in work that somebody waits for. Default false.
 */
export function sleep(
  clock: Clock,
  delayMs: number,
  signal?: AbortSignal,
  { holds = false }: { readonly holds?: boolean } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      timer.cancel();
      reject(signal!.reason);
    };
    const timer = clock.schedule(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    if (holds) timer.hold?.();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The RFC 3339 text Kubernetes uses for `metav1.Time`: UTC, whole seconds. */
export function kubeTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** The RFC 3339 text Kubernetes uses for `metav1.MicroTime`: UTC, six decimals. */
export function kubeMicroTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 23)}000Z`;
}
