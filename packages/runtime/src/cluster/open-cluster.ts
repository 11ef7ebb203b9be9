import {
  type Cache,
  type Client,
  type Clock,
  type Connection,
  createCache,
  createClient,
  type Random,
  type Transport,
  undiciTransport,
} from '@slipway/kube';

import type { Logger } from '../log/logger.ts';
import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import type { ClusterView } from './cluster-view.ts';
import { meteredTransport } from './metered-transport.ts';
import { Reachability } from './reachability.ts';

/** How to get at a cluster: by connection, by a transport somebody else made, or with client and cache ready-made. */
export type ClusterTarget =
  | { connection: Connection }
  /** What `connect` returns, or any transport. Not closed at stop. The lease gets `openTransport()`, if there is one. */
  | { transport: Transport; namespace?: string; openTransport?: () => Transport }
  /** Neither is closed at stop. The client must tell the cache of its writes (`createClient({ cache })`). */
  | { client: Client; cache: Cache; namespace?: string };

export interface OpenCluster {
  readonly cluster: ClusterView;
  /** The namespace "we" are in. */
  readonly namespace: string;
  /** A client whose requests wait for nobody else's. */
  leaseClient(): Client;
  close(): Promise<void>;
}

interface Environment {
  clock: Clock;
  random: Random;
  log: Logger;
  metrics: RuntimeMetrics;
  fieldManager: string;
}

export function openCluster(name: string, target: ClusterTarget, environment: Environment): OpenCluster {
  if ('cache' in target) {
    const { client, cache, namespace = 'default' } = target;
    return { cluster: { name, client, cache }, namespace, leaseClient: () => client, close: async () => undefined };
  }
  const opened: Transport[] = [];
  const ready = 'transport' in target ? target : undefined;
  const host = 'transport' in target ? name : new URL(target.connection.server).host;
  const { clock, random, log, metrics, fieldManager } = environment;
  const reachability = new Reachability(clock);
  const metered = (transport: Transport) => meteredTransport(transport, { metrics, clock, host, reachability });
  const open = (): Transport => {
    if ('transport' in target) return metered(target.transport);
    const transport = undiciTransport(target.connection, { clock });
    opened.push(transport);
    return metered(transport);
  };
  const openForLease = (): Transport => (ready?.openTransport ? metered(ready.openTransport()) : open());
  const transport = open();
  const cacheLog = log.with({ cluster: name });
  const cache = createCache({ transport, clock, random, log: cacheLog, metrics: metrics.cache(name) });
  const client = createClient({
    transport,
    fieldManager,
    clock,
    random,
    cache,
    instrument: metrics.clientInstrument(host),
    warn: (warning, operation) => log.warn('the API server warns', { warning, operation }),
  });
  return {
    cluster: { name, client, cache, reachability },
    namespace: ('transport' in target ? target.namespace : target.connection.namespace) ?? 'default',
    leaseClient: () => createClient({ transport: openForLease(), fieldManager, clock, random }),
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
    },
  };
}
