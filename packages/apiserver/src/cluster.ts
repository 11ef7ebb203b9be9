import { writeFile } from 'node:fs/promises';
import { builtinRegistry } from './builtin-registry.ts';
import { systemClock, type Clock } from './clock.ts';
import { Faults, type FaultRule, type Interceptor } from './faults.ts';
import { listen, type Listener } from './http/http-server.ts';
import { inProcessTransport, type InProcessOptions, type InProcessTransport } from './in-process.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { systemRandom, type Random } from './random.ts';
import { ApiServer } from './server.ts';
import { Store, type Change, type HistoryOptions } from './store/store.ts';

export interface ClusterOptions {
  /** Listen on this port; 0 takes any free one. Default: no socket at all. */
  readonly port?: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Default: the randomness of the machine. */
  readonly random?: Random;
  readonly faults?: readonly FaultRule[];
  readonly history?: HistoryOptions;
}

/** A running cluster. */
export interface Cluster {
  /** Where it listens; without a port an address nobody answers at. */
  readonly url: string;
  /** A transport without sockets, as the administrator. */
  readonly transport: InProcessTransport;
  /** The same for somebody else. */
  transportFor(options: InProcessOptions): InProcessTransport;
  readonly kubeconfig: string;
  writeKubeconfig(path: string): Promise<void>;
  readonly server: ApiServer;
  /** The revision of the last write. */
  readonly revision: number;
  /** Forgets history, so that watches and lists from before answer 410. */
  compact(revision?: number): void;
  readonly faults: Faults;
  /** Called before and after the effect of every request; `'drop'` or throwing breaks the connection there. */
  intercept(interceptor: Interceptor): () => void;
  /** Called inside every stored write, with the stored object. */
  observe(observer: (change: Change) => void): () => void;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a cluster in this process. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const store = new Store({ clock, ...(options.history ? { history: options.history } : {}) });
  const faults = new Faults(clock, options.faults);
  const server = new ApiServer({ registry: builtinRegistry(), store, clock, random, faults });
  let listener: Listener | undefined;
  if (options.port !== undefined) {
    listener = await listen(server, { port: options.port, host: options.host ?? '127.0.0.1' });
  }
  const url = listener?.url ?? 'http://cluster.invalid';
  const kubeconfig = kubeconfigText({ server: url });
  const transport = inProcessTransport(server);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      await transport.close();
      await listener?.close();
      store.close();
    })();
    return stopping;
  };
  return {
    url,
    transport,
    transportFor: (forWhom) => inProcessTransport(server, forWhom),
    kubeconfig,
    writeKubeconfig: (path) => writeFile(path, kubeconfig, { mode: 0o600 }),
    server,
    get revision() {
      return store.revision;
    },
    compact: (revision) => store.compact(revision),
    faults,
    intercept: (interceptor) => faults.intercept(interceptor),
    observe: (observer) => store.observe(observer),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
