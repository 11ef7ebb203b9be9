/** What has to be closed again, last first. Node 22 has no `AsyncDisposableStack`; this is the part of it we need. */
export class Cleanup implements AsyncDisposable {
  #steps: (() => unknown)[] = [];

  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Hands all steps over: what was the owner so far closes nothing any more. */
  move(): Cleanup {
    const taken = new Cleanup();
    [taken.#steps, this.#steps] = [this.#steps, []];
    return taken;
  }

  /** Takes every step, also after one that fails; the first failure is thrown at the end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
