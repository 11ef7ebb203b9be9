import type { Clock, Timer } from '@slipway/kube';
import type { VirtualClock } from '@slipway/testing';

/**
 * The clock of one process in a world of several: the process can be frozen (its timers fire late, all at once, while the time of
 * the world goes on), it can compute without letting any timer run, and somebody can set its wall clock.
 */
export class ProcessClock implements Clock {
  readonly #world: VirtualClock;
  #set = 0;
  #spent = 0;
  #frozen = false;
  readonly #late: (() => void)[] = [];

  constructor(world: VirtualClock) {
    this.#world = world;
  }

  now(): number {
    return this.#world.now() + this.#spent + this.#set;
  }

  monotonic(): number {
    return this.#world.monotonic() + this.#spent;
  }

  schedule(delayMs: number, callback: () => void): Timer {
    let live = true;
    const fire = (): void => {
      if (live) callback();
    };
    const timer = this.#world.schedule(delayMs, () => {
      if (this.#frozen) this.#late.push(fire);
      else fire();
    });
    return {
      cancel: () => {
        live = false;
        timer.cancel();
      },
    };
  }

  get frozen(): boolean {
    return this.#frozen;
  }

  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    for (const fire of this.#late.splice(0)) fire();
  }

  /** The process computes for so long: time passes for it and no timer of it fires. */
  compute(ms: number): void {
    this.#spent += ms;
  }

  /** Somebody sets the wall clock of the machine. */
  set(ms: number): void {
    this.#set += ms;
  }
}
