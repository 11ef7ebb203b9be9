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
import type { Cluster } from './cluster.ts';
import { meteredTransport } from './metered-transport.ts';

/** How to get at a cluster: by connection, by a transport somebody else made, or with client and cache ready-made. */
export type ClusterTarget =
  | { connection: Connection }
  /** Shared by everything, the lease included. It is not closed at stop. */
  | { transport: Transport; namespace?: string }
  /** Neither is closed at stop. The client must tell the cache of its writes (`createClient({ cache })`). */
  | { client: Client; cache: Cache; namespace?: string };

export interface OpenCluster {
  readonly cluster: Cluster;
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
  if ('client' in target) {
    const { client, cache, namespace = 'default' } = target;
    return { cluster: { name, client, cache }, namespace, leaseClient: () => client, close: async () => undefined };
  }
  const opened: Transport[] = [];
  const host = 'connection' in target ? new URL(target.connection.server).host : name;
  const open = (): Transport => {
    if ('transport' in target) return metered(target.transport, host, environment);
    const transport = undiciTransport(target.connection, { clock: environment.clock });
    opened.push(transport);
    return metered(transport, host, environment);
  };
  const { clock, random, log, metrics, fieldManager } = environment;
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
    cluster: { name, client, cache },
    namespace: ('connection' in target ? target.connection.namespace : target.namespace) ?? 'default',
    leaseClient: () => createClient({ transport: open(), fieldManager, clock, random }),
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
    },
  };
}

function metered(transport: Transport, host: string, { metrics, clock }: Environment): Transport {
  return meteredTransport(transport, { metrics, clock, host });
}
