export interface BackOffLimits {
  /** Wait before the first restart. */
  baseMs: number;
  /** No wait is longer. */
  maxMs: number;
  /** A container that ran this long starts from the base again. */
  resetAfterMs: number;
}

/** What a kubelet waits. */
export const kubeletBackOff: BackOffLimits = { baseMs: 10_000, maxMs: 300_000, resetAfterMs: 600_000 };

/** How long a container waits before it is started again: twice as long each time. */
export class RestartBackOff {
  readonly #limits: BackOffLimits;
  #failures = 0;

  constructor(limits: BackOffLimits = kubeletBackOff) {
    this.#limits = limits;
  }

  /** The wait after a run of `ranForMs`. */
  nextMs(ranForMs: number): number {
    const { baseMs, maxMs, resetAfterMs } = this.#limits;
    if (ranForMs >= resetAfterMs) this.#failures = 0;
    return Math.min(maxMs, baseMs * 2 ** this.#failures++);
  }
}
