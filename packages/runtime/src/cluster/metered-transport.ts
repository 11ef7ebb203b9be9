import { instrumentTransport, type Clock, type Transport } from '@slipway/kube';

import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import type { Reachability } from './reachability.ts';

/** Counts and times every request that goes through `transport`, and notes whether it was answered. Streams count when their answer begins. */
export function meteredTransport(
  transport: Transport,
  {
    metrics,
    clock,
    host,
    reachability,
  }: { metrics: RuntimeMetrics; clock: Clock; host: string; reachability: Reachability },
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
            reachability.answered();
            if (stream) report(durationMs);
          },
          ended({ durationMs, responseBytes, error }) {
            if (code === undefined && error !== undefined) reachability.unanswered();
            if (!stream) report(durationMs, error === undefined ? responseBytes : undefined);
            else if (code === undefined && error !== undefined) report(durationMs);
          },
        };
      },
    },
    clock,
  );
}
