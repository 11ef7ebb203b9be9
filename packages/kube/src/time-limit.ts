import type { Clock } from './clock.ts';

/** A bound on how long something may take. Dispose of it when that has ended, or its timer and its listener stay. */
export interface TimeLimit extends Disposable {
  /** Aborts when time is up, or with the signal the limit was made with. */
  readonly signal: AbortSignal;
  /** Whether time is up; not so when the other signal came first. */
  readonly isOver: boolean;
}

/**
 * Bounds work that listens to a signal: `limitMs` milliseconds on `clock`, and no longer than until `signal` aborts.
 * `error` makes the reason when time is up; default: one that says how long it was.
 *
 * @example
 * ```ts
 * using limit = timeLimit(systemClock, 5000);
 * const version = await client.serverVersion({ signal: limit.signal });
 * ```
 */
export function timeLimit(
  clock: Clock,
  limitMs: number,
  { signal, error }: { readonly signal?: AbortSignal; readonly error?: () => Error } = {},
): TimeLimit {
  const end = new AbortController();
  let isOver = false;
  const onAbort = (): void => end.abort(signal!.reason);
  const timer = clock.schedule(limitMs, () => {
    isOver = !end.signal.aborted;
    end.abort(error?.() ?? new Error(`no answer in ${limitMs} ms`));
  });
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: end.signal,
    get isOver() {
      return isOver;
    },
    [Symbol.dispose]() {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
