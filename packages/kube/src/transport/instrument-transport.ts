import type { Clock } from '../clock.ts';
import type { Transport } from '../transport.ts';

/** Told about every exchange on a transport, requests and streams alike: for `rest_client_*` metrics. */
export interface TransportInstrument {
  /** An exchange begins. */
  begin(info: { method: string; path: string; stream: boolean; requestBytes: number }): ExchangeObserver | undefined;
}

export interface ExchangeObserver {
  /** The status line is here. Not called when there is no answer. */
  answered?(status: number, durationMs: number): void;
  /** It is over: `error` says why there was no (whole) answer; a stream we ended ourselves has none. */
  ended?(outcome: { durationMs: number; responseBytes: number; error?: unknown }): void;
}

/** The same transport, watched. */
export function instrumentTransport(transport: Transport, instrument: TransportInstrument, clock: Clock): Transport {
  const begin = (request: { method: string; path: string; body?: string | Uint8Array }, stream: boolean) => {
    const requestBytes = request.body === undefined ? 0 : Buffer.byteLength(request.body);
    return instrument.begin({ method: request.method, path: request.path, stream, requestBytes });
  };
  return {
    async send(request, signal) {
      const startedAt = clock.now();
      const observer = begin(request, false);
      try {
        const response = await transport.send(request, signal);
        const durationMs = clock.now() - startedAt;
        observer?.answered?.(response.status, durationMs);
        observer?.ended?.({ durationMs, responseBytes: response.body.length });
        return response;
      } catch (error) {
        observer?.ended?.({ durationMs: clock.now() - startedAt, responseBytes: 0, error });
        throw error;
      }
    },
    open(request, handler) {
      const startedAt = clock.now();
      const observer = begin(request, true);
      let responseBytes = 0;
      let over = false;
      const ended = (error?: unknown) => {
        if (over) return;
        over = true;
        observer?.ended?.({
          durationMs: clock.now() - startedAt,
          responseBytes,
          ...(error === undefined ? {} : { error }),
        });
      };
      const stream = transport.open(request, {
        head(status, headers) {
          observer?.answered?.(status, clock.now() - startedAt);
          handler.head(status, headers);
        },
        data(chunk) {
          responseBytes += chunk.length;
          handler.data(chunk);
        },
        end() {
          ended();
          handler.end();
        },
        error(error) {
          ended(error);
          handler.error(error);
        },
      });
      return {
        abort() {
          ended();
          stream.abort();
        },
        pause: () => stream.pause?.(),
        resume: () => stream.resume?.(),
      };
    },
    close: () => transport.close(),
  };
}
