import type { Clock, Stream, StreamHandler, Transport, TransportRequest, TransportResponse } from '@slipway/kube';

import { isLease, isWrite } from '../requests.ts';
import { laneOfCaller } from './lanes.ts';
import type { Moment, WriteFate } from './weather.ts';

/** What the network asks the storm. */
export interface Sky {
  readonly clock: Clock;
  /** Whether the API server answers nobody. */
  readonly isDown: boolean;
  /** The fate of a write, in the order in which a lane makes them. */
  fateOf(lane: string, request: TransportRequest): WriteFate;
  /** Something happens now; the write goes on when it has. */
  happens(moment: Moment): Promise<void>;
}

/** The network of one process in a storm: holds each write as long as its fate says, and lets things happen in between. */
export class StormTransport implements Transport {
  readonly #inner: Transport;
  readonly #sky: Sky;
  readonly #streams = new Set<(error: Error) => void>();

  constructor(inner: Transport, sky: Sky) {
    this.#inner = inner;
    this.#sky = sky;
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    if (!isWrite(request) || isLease(request)) return await this.#forward(request, signal);
    const sky = this.#sky;
    const fate = sky.fateOf(laneOfCaller(), request);
    await hold(sky.clock, fate.holdMs, signal);
    if (fate.before) await sky.happens(fate.before);
    signal?.throwIfAborted();
    if (fate.fault === 'conflict') return refusal(409, 'Conflict');
    if (fate.fault === 'unavailable') return refusal(503, 'ServiceUnavailable');
    const response = await this.#forward(request, signal);
    if (fate.after) await sky.happens(fate.after);
    await hold(sky.clock, fate.answerMs, signal);
    if (fate.fault === 'lost') throw broken('the connection broke after the request was sent (storm)');
    return response;
  }

  /** What goes elsewhere is held and interrupted in the same way; how it fails is for its own server to say. */
  async around<T>(call: TransportRequest, work: () => Promise<T>): Promise<T> {
    if (!isWrite(call)) return await work();
    const sky = this.#sky;
    const fate = sky.fateOf(laneOfCaller(), call);
    await hold(sky.clock, fate.holdMs);
    if (fate.before) await sky.happens(fate.before);
    const result = await work();
    if (fate.after) await sky.happens(fate.after);
    return result;
  }

  open(request: TransportRequest, handler: StreamHandler): Stream {
    let over = false;
    const end = (act: () => void) => {
      if (over) return;
      over = true;
      this.#streams.delete(fail);
      act();
    };
    const stream = this.#sky.isDown
      ? undefined
      : this.#inner.open(request, {
          head: (status, headers) => !over && handler.head(status, headers),
          data: (chunk) => !over && handler.data(chunk),
          end: () => end(() => handler.end()),
          error: (error) => end(() => handler.error(error)),
        });
    const fail = (error: Error) =>
      end(() => {
        stream?.abort();
        handler.error(error);
      });
    this.#streams.add(fail);
    if (!stream) this.#sky.clock.schedule(0, () => fail(broken('connection refused (storm)')));
    return { abort: () => end(() => stream?.abort()) };
  }

  /** All watches break off. */
  breakWatches(): void {
    const open = Array.from(this.#streams);
    for (const fail of open) fail(broken('the watch broke off (storm)'));
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  async #forward(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    if (this.#sky.isDown) throw broken('connection refused (storm)');
    return await this.#inner.send(request, signal);
  }
}

function broken(message: string): Error {
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}

function refusal(code: number, reason: string): TransportResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code, details: {} };
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ ...status, message: `${reason} (storm)` })),
  };
}

function hold(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (ms === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = clock.schedule(ms, resolve);
    signal?.addEventListener(
      'abort',
      () => {
        timer.cancel();
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
