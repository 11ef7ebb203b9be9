import type { Probe } from './running-pod.ts';

/** Turns results into a verdict that changes only after enough of the same in a row. */
export class ProbeVerdict {
  readonly #successThreshold: number;
  readonly #failureThreshold: number;
  #passes: boolean;
  #last: boolean | undefined;
  #inARow = 0;

  /** Readiness begins with `false`, liveness with `true`. */
  constructor(probe: Probe, initially: boolean) {
    this.#successThreshold = probe.successThreshold ?? 1;
    this.#failureThreshold = probe.failureThreshold ?? 3;
    this.#passes = initially;
  }

  get passes(): boolean {
    return this.#passes;
  }

  /** Whether the failures in a row are as many as the probe allows, whatever the verdict was. */
  get hasFailed(): boolean {
    return this.#last === false && this.#inARow >= this.#failureThreshold;
  }

  take(success: boolean): void {
    this.#inARow = success === this.#last ? this.#inARow + 1 : 1;
    this.#last = success;
    if (this.#inARow >= (success ? this.#successThreshold : this.#failureThreshold)) this.#passes = success;
  }
}
