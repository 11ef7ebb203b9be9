import { type Clock, kindText } from '@slipway/kube';
import { Gauge, type Registry } from 'prom-client';

import type { ClusterView } from './cluster-view.ts';

/** What the caches hold and when they last heard of the server; read when metrics are collected. */
export function addCacheMetrics(registry: Registry, clusters: ReadonlyMap<string, ClusterView>, clock: Clock): void {
  const labelNames = ['cluster', 'kind'] as const;
  const gauge = (name: string, help: string, value: (row: StatusRow) => number | undefined): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const { name: cluster, cache } of clusters.values()) {
          for (const row of cache.status()) {
            const current = value(row);
            if (current !== undefined) this.set({ cluster, kind: kindText(row.kind) }, current);
          }
        }
      },
    });
  };
  gauge('slipway_cache_objects', 'Cached objects.', (row) => row.objects);
  gauge('slipway_cache_synced', '1 when the kind has been loaded once.', (row) => (row.synced ? 1 : 0));
  gauge('slipway_cache_received', 'Objects and changes received.', (row) => row.counts?.events);
  gauge(
    'slipway_cache_parsed',
    'Objects parsed; the others received were never looked into.',
    (row) => row.counts?.parses,
  );
  gauge('slipway_cache_silence_seconds', 'Time since the last event or bookmark.', (row) =>
    row.lastActivity === undefined ? undefined : (clock.now() - row.lastActivity) / 1000,
  );
}

type StatusRow = ReturnType<ClusterView['cache']['status']>[number];
