import { RequestFailed } from './admin-client.ts';

/** Runs steps for objects: those of one object one after the other, those of different objects side by side. */
export class ObjectSteps implements AsyncDisposable {
  readonly #signal: AbortSignal;
  readonly #log: ((line: string) => void) | undefined;
  readonly #last = new Map<string, Promise<void>>();

  constructor(signal: AbortSignal, log?: (line: string) => void) {
    this.#signal = signal;
    this.#log = log;
  }

  run(uid: string, step: () => Promise<void>): void {
    const mine = (this.#last.get(uid) ?? Promise.resolve()).then(() => this.#attempt(step));
    this.#last.set(uid, mine);
    void mine.then(() => {
      if (this.#last.get(uid) === mine) this.#last.delete(uid);
    });
  }

  async #attempt(step: () => Promise<void>): Promise<void> {
    if (this.#signal.aborted) return;
    try {
      await step();
    } catch (error) {
      // Gone or changed meanwhile: the event that says so is on its way.
      const overtaken = error instanceof RequestFailed && [404, 409].includes(error.status);
      if (!this.#signal.aborted && !overtaken) this.#log?.(String(error));
    }
  }

  /** Waits for what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
