/** What a reconciler may return: look at the key again later. Made by {@link requeueAfter} or {@link requeue}. */
export type Requeue = { readonly afterMs: number } | { readonly afterMs?: undefined; readonly backoff: true };

/** Look at the key again after `delayMs` milliseconds, or earlier when something about it changes. */
export function requeueAfter(delayMs: number): Requeue {
  if (!Number.isFinite(delayMs) || delayMs < 0) {
    throw new RangeError(`requeueAfter: ${delayMs} is no delay; give milliseconds, 0 or more`);
  }
  return { afterMs: delayMs };
}

/** Look at the key again as after a failure: soon at first, then less and less often. */
export function requeue(): Requeue {
  return { backoff: true };
}

/** A failure no retry mends: the key is looked at again only when something about it changes. */
export class TerminalError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TerminalError';
  }
}

/** Why the signal of a reconciliation aborts when it takes longer than `reconcileTimeoutMs`. */
export class ReconcileTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`the reconciliation took longer than its limit of ${timeoutMs} ms`);
    this.name = 'ReconcileTimeoutError';
  }
}
