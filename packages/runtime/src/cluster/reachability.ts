import { seconds, type Clock } from '@slipway/kube';

/**
 * Requests have to fail for so long, with no answer between them, to be an outage. One that no answer ever comes to, because a proxy cuts
 * it off, say, has answers to others around it, or nobody else asks: it is not to be tried again each time an answer comes.
 */
const shortestOutageMs = seconds(5);

/** Whether the API server of a cluster could be reached last, by whatever was asked of it. */
export class Reachability {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  /** The first and the last request without an answer since the last answer. */
  #silence: { readonly since: number; readonly until: number } | undefined;

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
    const silence = this.#silence;
    this.#silence = undefined;
    if (!silence || silence.until - silence.since < shortestOutageMs) return;
    for (const listener of this.#listeners) listener();
  }

  /** A request ended without an answer. */
  unanswered(): void {
    const now = this.#clock.monotonic();
    this.#silence = { since: this.#silence?.since ?? now, until: now };
  }
}
