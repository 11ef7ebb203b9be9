import { monitorEventLoopDelay } from 'node:perf_hooks';

import { Gauge, type Registry } from 'prom-client';

/** How late the event loop is: the one number that tells whether something hogs the process. Returns how to end it. */
export function addEventLoopMetrics(registry: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  new Gauge({
    name: 'slipway_event_loop_delay_seconds',
    help: 'Event loop delay since the last collection.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      this.set({ quantile: '0.5' }, delay.percentile(50) / 1e9);
      this.set({ quantile: '0.99' }, delay.percentile(99) / 1e9);
      this.set({ quantile: '1' }, delay.max / 1e9);
      delay.reset();
    },
  });
  return () => delay.disable();
}
