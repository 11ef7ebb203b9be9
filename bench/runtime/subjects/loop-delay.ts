import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const resolutionMs = 2;

/** How long the event loop was kept from turning. Its timer costs CPU, so it ends with the first question. */
export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });

  start(): void {
    this.#histogram.enable();
  }

  /** The longest delay since the start. */
  async longestMs(): Promise<number> {
    // What held the loop up just now counts only once the timer has come round.
    await sleep(resolutionMs * 5);
    this.#histogram.disable();
    return this.#histogram.max / 1e6;
  }
}
