import { isConnectionFailure } from '@slipway/kube';

/** Whether the API server of a cluster could be reached last, by whatever was asked of it. */
export class Reachability {
  readonly #listeners = new Set<() => void>();
  #away = false;

  /** Calls `listener` each time the server answers again after it could not be reached. Returns the function that ends it. */
  onReturn(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The server has answered, whatever it said. */
  answered(): void {
    if (!this.#away) return;
    this.#away = false;
    for (const listener of this.#listeners) listener();
  }

  /** A request ended without an answer. */
  failed(error: unknown): void {
    if (isConnectionFailure(error)) this.#away = true;
  }
}
