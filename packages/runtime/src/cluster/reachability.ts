import { seconds, type Clock } from '@slipway/kube';

/**
 * A shorter silence is no outage. A request that no answer ever comes to, because a proxy cuts it off, say, has answers to others around it
 * all the time; it is not to be tried again each time one of them comes.
 */
const shortestOutageMs = seconds(5);

/** Whether the API server of a cluster could be reached last, by whatever was asked of it. */
export class Reachability {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  /** Since when nothing was answered. */
  #silentSince: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `listener` each time the server answers again after an outage. Returns the function that ends it. */
  onReturn(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The server has answered, whatever it said. */
  answered(): void {
    const since = this.#silentSince;
    this.#silentSince = undefined;
    if (since === undefined || this.#clock.monotonic() - since < shortestOutageMs) return;
    for (const listener of this.#listeners) listener();
  }

  /** A request ended without an answer. */
  unanswered(): void {
    this.#silentSince ??= this.#clock.monotonic();
  }
}
