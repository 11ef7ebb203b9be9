import type { Clock, StreamHandler, Transport, TransportRequest, TransportResponse } from '@slipway/kube';

import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';

/** Counts and times every request that goes through `transport`. Streams are counted when their answer begins. */
export function meteredTransport(
  transport: Transport,
  options: { metrics: RuntimeMetrics; clock: Clock; host: string },
): Transport {
  const { metrics, clock, host } = options;
  const report = (request: TransportRequest, code: string, startedAt: number, responseBytes?: number): void =>
    metrics.restRequest({
      method: request.method,
      host,
      code,
      seconds: (clock.now() - startedAt) / 1000,
      requestBytes: request.body === undefined ? 0 : Buffer.byteLength(request.body),
      responseBytes,
    });
  return {
    async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
      const startedAt = clock.now();
      try {
        const response = await transport.send(request, signal);
        report(request, String(response.status), startedAt, response.body.length);
        return response;
      } catch (error) {
        report(request, '<error>', startedAt);
        throw error;
      }
    },
    open(request: TransportRequest, handler: StreamHandler) {
      const startedAt = clock.now();
      let answered = false;
      return transport.open(request, {
        head(status, headers) {
          answered = true;
          report(request, String(status), startedAt);
          handler.head(status, headers);
        },
        data: (chunk) => handler.data(chunk),
        end: () => handler.end(),
        error(error) {
          if (!answered) report(request, '<error>', startedAt);
          handler.error(error);
        },
      });
    },
    close: () => transport.close(),
  };
}
