import type { Stream, StreamHandler, Transport, TransportRequest, TransportResponse } from '@slipway/kube';

import { waitsForTime } from './outside-work.ts';

/** Decides, before and after each request, whether the process dies there. */
export type KillPoint = (request: TransportRequest, phase: 'before' | 'after') => boolean;

/** The calls of a process that go elsewhere than to the API server, such as to Git: they too can be the last thing it does. */
export interface OtherCalls {
  /** `call` names it in reports and decides whether it counts as a write, as a request would. */
  around<T>(call: TransportRequest, work: () => Promise<T>): Promise<T>;
}

/**
 * The network of a process that can be killed: from the chosen moment on nothing it sends arrives and nothing arrives at it,
 * as after `kill -9`. The request at which it died has taken effect or not, as `point` decided.
 */
export class KillableTransport implements Transport, OtherCalls {
  readonly #inner: Transport;
  readonly #point: KillPoint;
  readonly #streams = new Set<Stream>();
  readonly #onKill: () => void;
  #dead = false;

  constructor(inner: Transport, point: KillPoint, onKill: () => void = () => undefined) {
    this.#inner = inner;
    this.#point = point;
    this.#onKill = onKill;
  }

  get dead(): boolean {
    return this.#dead;
  }

  kill(): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const stream of this.#streams) stream.abort();
    this.#streams.clear();
    this.#onKill();
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    return await this.around(request, () => this.#inner.send(request, signal), signal);
  }

  async around<T>(call: TransportRequest, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.#dead && this.#point(call, 'before')) this.kill();
    if (this.#dead) return await never(signal);
    try {
      const result = await work();
      if (!this.#dead && this.#point(call, 'after')) this.kill();
      return this.#dead ? await never(signal) : result;
    } catch (error) {
      if (this.#dead) return await never(signal);
      throw error;
    }
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    if (this.#dead) return { abort: () => undefined };
    const stream = this.#inner.open(request, handler);
    this.#streams.add(stream);
    return {
      abort: () => {
        this.#streams.delete(stream);
        stream.abort();
      },
    };
  }

  async close(): Promise<void> {
    this.kill();
    await this.#inner.close();
  }
}

/** What a dead process gets: nothing, for ever. Only an abort from inside it is still heard. */
function never(signal?: AbortSignal): Promise<never> {
  waitsForTime();
  return new Promise((_resolve, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
