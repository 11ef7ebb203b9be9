import { instrumentTransport, type Clock, type Transport } from '@slipway/kube';

import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';

/** Counts and times every request that goes through `transport`. Streams are counted when their answer begins. */
export function meteredTransport(
  transport: Transport,
  { metrics, clock, host }: { metrics: RuntimeMetrics; clock: Clock; host: string },
): Transport {
  return instrumentTransport(
    transport,
    {
      begin({ method, stream, requestBytes }) {
        let code: string | undefined;
        const report = (durationMs: number, responseBytes?: number): void =>
          metrics.restRequest({
            method,
            host,
            code: code ?? '<error>',
            seconds: durationMs / 1000,
            requestBytes,
            responseBytes,
          });
        return {
          answered(status, durationMs) {
            code = String(status);
            if (stream) report(durationMs);
          },
          ended({ durationMs, responseBytes, error }) {
            if (!stream) report(durationMs, error === undefined ? responseBytes : undefined);
            else if (code === undefined && error !== undefined) report(durationMs);
          },
        };
      },
    },
    clock,
  );
}
