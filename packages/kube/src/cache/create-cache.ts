import type { Cache, CacheQuery, Informer, InformerScope, InformerStatus } from '../cache.ts';
import type { Clock } from '../clock.ts';
import { type Kind, kindText, type ObjectOf } from '../kind.ts';
import type { DeepReadonly, ObjectKey } from '../object.ts';
import type { Random } from '../random.ts';
import type { ReflectorTimings } from '../reflector/options.ts';
import { type YieldToLoop, yieldToLoop } from '../reflector/time-slice.ts';
import type { Transport } from '../transport.ts';
import { CacheError } from './cache-error.ts';
import type { CacheLog, CacheMetrics } from './cache-observers.ts';
import { InformerCore, type InformerSurroundings } from './informer-core.ts';
import { Slabs } from './slabs.ts';

export interface CacheOptions {
  transport: Transport;
  clock: Clock;
  random: Random;
  log?: CacheLog | undefined;
  metrics?: CacheMetrics | undefined;
  /** How the cache lets the event loop turn during long work. Default: `setImmediate`. */
  yieldToLoop?: YieldToLoop;
  /** How long after a write of this process reads wait for the cache to see it. Default 5 000 ms; 0 never waits. */
  ownWriteWaitMs?: number;
  /** How long a read waits for a kind that is not loaded yet before it fails with the reason. Default 30 000 ms. */
  loadWaitMs?: number;
  /** Parsed objects remembered per kind, of those that are read again and again; the others are parsed when read. Default 1 000. */
  parsedObjects?: number;
  /** Freeze what is handed out, to find code that changes it. For tests: frozen objects read slower. Default false. */
  freeze?: boolean;
  /** Ask for the first objects as a stream (WatchList); falls back to pages by itself. Default true. */
  streamLists?: boolean;
  /** Page size, heartbeats and back-off. The defaults suit every cluster; they are here for tests. */
  timings?: ReflectorTimings;
}

/** A cache of one cluster's objects. Declare kinds with `informer`, then `start` it. Several clusters: several caches. */
export function createCache(options: CacheOptions): Cache {
  return new ClusterCache(options);
}

class ClusterCache implements Cache {
  readonly #around: InformerSurroundings;
  readonly #informers = new Map<string, InformerCore>();
  #started = false;
  #stopped = false;

  constructor(options: CacheOptions) {
    this.#around = {
      transport: options.transport,
      clock: options.clock,
      random: options.random,
      yieldToLoop: options.yieldToLoop ?? yieldToLoop,
      abilities: { watchList: options.streamLists ?? true },
      slabs: new Slabs(),
      timings: options.timings,
      log: options.log,
      metrics: options.metrics,
      ownWriteWaitMs: options.ownWriteWaitMs ?? 5_000,
      loadWaitMs: options.loadWaitMs ?? 30_000,
      parsedObjects: options.parsedObjects ?? 1_000,
      freeze: options.freeze ?? false,
    };
  }

  async get<K extends Kind>(kind: K, key: ObjectKey): Promise<DeepReadonly<ObjectOf<K>> | undefined> {
    return (await this.#declared(kind).get(key)) as DeepReadonly<ObjectOf<K>> | undefined;
  }

  async list<K extends Kind>(kind: K, query: CacheQuery = {}): Promise<readonly DeepReadonly<ObjectOf<K>>[]> {
    return (await this.#declared(kind).list(query)) as readonly DeepReadonly<ObjectOf<K>>[];
  }

  informer<K extends Kind>(kind: K, scope: InformerScope<ObjectOf<K>> = {}): Informer<ObjectOf<K>> {
    if (this.#stopped)
      throw new CacheError('Stopped', `${kindText(kind)} cannot be declared: the cache has been stopped`);
    const id = identity(kind, scope.view);
    let informer = this.#informers.get(id);
    if (informer === undefined) {
      informer = new InformerCore(kind, scope as InformerScope, this.#around);
      this.#informers.set(id, informer);
    } else informer.declare(scope as InformerScope);
    if (this.#started) informer.start();
    return informer as unknown as Informer<ObjectOf<K>>;
  }

  forget(kind: Kind, view?: string): void {
    const id = identity(kind, view);
    this.#informers.get(id)?.stop();
    this.#informers.delete(id);
  }

  start(): void {
    if (this.#started || this.#stopped) return;
    this.#started = true;
    for (const informer of this.#informers.values()) informer.start();
  }

  async synced(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    // Kinds may be declared while we wait.
    for (const informer of this.#informers.values()) await informer.whenSynced(signal);
  }

  status(): readonly InformerStatus[] {
    return Array.from(this.#informers.values(), (informer) => informer.status());
  }

  wrote(kind: Kind, key: ObjectKey, outcome: { resourceVersion?: string; uid?: string; deleted?: boolean }): void {
    this.#informers.get(identity(kind))?.wrote(key, outcome);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const informer of this.#informers.values()) informer.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #declared(kind: Kind): InformerCore {
    const informer = this.#informers.get(identity(kind));
    if (informer !== undefined) return informer;
    throw new CacheError(
      'Undeclared',
      `${kindText(kind)} is not cached: nobody declared it. Declare it before reading (name it in the controller's for, owns or watches, ` +
        `or call cache.informer(${kind.kind})), or read it from the API server with client.get.`,
    );
  }
}

function identity(kind: Kind, view?: string): string {
  return `${kind.group}/${kind.version}/${kind.plural}${view === undefined ? '' : `#${view}`}`;
}
