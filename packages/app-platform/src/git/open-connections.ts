import type { EventSource } from '@slipway/runtime';

/**
 * Connections that live as long as the controller does: when it stops, they are closed after its last round. A source, because a source
 * is told when the controller starts and stops.
 */
export class OpenConnections implements EventSource {
  readonly name = 'connections';
  #open: AsyncDisposable | undefined;
  #rounds = 0;
  #isStopping = false;

  start(): () => void {
    this.#isStopping = false;
    return () => {
      this.#isStopping = true;
      this.#closeAfterLastRound();
    };
  }

  /** Takes care of a connection; the one before it is closed. */
  async keep(connection: AsyncDisposable): Promise<void> {
    const before = this.#open;
    this.#open = connection;
    await before?.[Symbol.asyncDispose]();
  }

  /** Runs a round that may use them. While stopping, none begins any more. */
  async during<T>(round: () => Promise<T>): Promise<T | undefined> {
    if (this.#isStopping) return undefined;
    this.#rounds += 1;
    try {
      return await round();
    } finally {
      this.#rounds -= 1;
      this.#closeAfterLastRound();
    }
  }

  #closeAfterLastRound(): void {
    if (!this.#isStopping || this.#rounds > 0) return;
    const open = this.#open;
    this.#open = undefined;
    // Nobody is left who could do anything about a connection that cannot be closed.
    open?.[Symbol.asyncDispose]().then(undefined, () => undefined);
  }
}
