import { type DeepReadonly, type Kind, keyText, kindText, type ObjectKey, type ObjectOf } from '@slipway/kube';
import type { EmitKey, EventSource, EventSourceContext } from '@slipway/runtime';

import type { Target, TargetWatching } from './target.ts';
import { type TargetKind, WatchedCluster } from './watched-cluster.ts';

/** A control plane as a component that watches it sees it. */
export interface WatchedTarget extends Target {
  /** What is watched of a kind: from the cache, or from the server while the cache cannot say. */
  list<K extends Kind>(kind: K): Promise<readonly DeepReadonly<ObjectOf<K>>[]>;
}

export interface TargetWatchOptions {
  /** How often each API server is asked whether it answers, in milliseconds. Default: never; that its watches break off has to do. */
  readonly askMs?: number;
}

/** How long changes are collected: what is written or deleted at once is looked at once. */
const collectMs = 500;

/**
 * Wakes a component when something changes on the control planes it works on, when the way to one breaks, and when it works again. Targets come and
 * go: each API server has a cache of its own, from the first control plane on it that is followed until the last has left.
 */
export class TargetWatch implements EventSource {
  readonly name = 'control planes';
  readonly #kinds: readonly TargetKind[];
  readonly #options: TargetWatchOptions;
  readonly #clusters = new Map<string, WatchedCluster>();
  /** Where each of those who follow is. */
  readonly #places = new Map<string, string>();
  /** Credentials with which an API server did not let itself be watched. */
  readonly #refused = new WeakSet<TargetWatching>();
  #run: { readonly emit: EmitKey; readonly context: EventSourceContext } | undefined;

  constructor(kinds: readonly TargetKind[] = [], options: TargetWatchOptions = {}) {
    this.#kinds = kinds;
    this.#options = options;
  }

  /** API servers that are watched. */
  get size(): number {
    return this.#clusters.size;
  }

  /** From now on what happens on `target` has `key` looked at. */
  follow(key: ObjectKey, target: Target, more: readonly TargetKind[] = []): WatchedTarget {
    const kinds = [...this.#kinds, ...more];
    if (!isWatchable(target) || !this.#run) return this.look(target, more);
    const place = placeOf(target);
    const id = keyText(key);
    if (this.#places.get(id) !== place) this.leave(key);
    this.#places.set(id, place);
    const cluster = this.#clusterAt(place, target);
    cluster.followers.set(id, key);
    cluster.declare(kinds);
    const live = this.look(target, more);
    return {
      ...target,
      client: cluster.clientOf(target),
      list: async (kind) => (await cluster.list(kind)) ?? (await live.list(kind)),
    };
  }

  /** The same without a cache: for a last look. */
  look(target: Target, more: readonly TargetKind[] = []): WatchedTarget {
    const selectors = new Map([...this.#kinds, ...more].map((each) => [kindText(each.kind), each.labelSelector]));
    return {
      ...target,
      list: async (kind) => {
        const labelSelector = selectors.get(kindText(kind));
        const found: ObjectOf<typeof kind>[] = await Array.fromAsync(target.client.list(kind, { labelSelector }));
        return found as DeepReadonly<ObjectOf<typeof kind>>[];
      },
    };
  }

  /**
   * `key` goes. Whether another control plane on the same API server takes over what they share: the first that `canTake` says so of, which is looked at next and
   * keeps of it what it needs. The last one finds nobody, and takes it away.
   */
  async handOver(key: ObjectKey, target: Target, canTake: (other: ObjectKey) => Promise<boolean>): Promise<boolean> {
    this.leave(key);
    for (const other of this.#clusters.get(placeOf(target))?.followers.values() ?? []) {
      if (!(await canTake(other))) continue;
      this.#run?.emit(other, { afterMs: collectMs });
      return true;
    }
    return false;
  }

  /** `key` is gone. */
  leave(key: ObjectKey): void {
    const id = keyText(key);
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#places.delete(id);
    const cluster = this.#clusters.get(place);
    cluster?.followers.delete(id);
    if (cluster?.followers.size === 0) this.#end(place, cluster);
  }

  start(emit: EmitKey, context: EventSourceContext): () => void {
    this.#run = { emit, context };
    return () => {
      this.#run = undefined;
      this.#places.clear();
      for (const [place, cluster] of this.#clusters) this.#end(place, cluster);
    };
  }

  #clusterAt(place: string, target: Target & { readonly watching: TargetWatching }): WatchedCluster {
    const known = this.#clusters.get(place);
    if (known && !this.#needsOther(known, target)) return known;
    const { clock, random, log } = this.#run!.context;
    const cluster: WatchedCluster = new WatchedCluster(target, {
      ...this.#options,
      clock,
      random,
      log: log.with({ server: target.server }),
      onChange: () => this.#wake(cluster),
    });
    if (known) {
      for (const [id, key] of known.followers) cluster.followers.set(id, key);
      cluster.declare(known.kinds);
      this.#end(place, known);
    }
    this.#clusters.set(place, cluster);
    return cluster;
  }

  /** Whether it is worth while to watch it with the credentials of `target` instead: others that were refused are not tried again and again. */
  #needsOther(cluster: WatchedCluster, { watching }: { readonly watching: TargetWatching }): boolean {
    if (!cluster.isDenied) return false;
    this.#refused.add(cluster.watching);
    return !this.#refused.has(watching);
  }

  #wake(cluster: WatchedCluster): void {
    for (const key of cluster.followers.values()) this.#run?.emit(key, { afterMs: collectMs });
  }

  #end(place: string, cluster: WatchedCluster): void {
    this.#clusters.delete(place);
    cluster.stop().catch((error: unknown) => this.#run?.context.log.warn('a watch did not end', { error }));
  }
}

function placeOf({ server, certificateAuthority = '' }: Target): string {
  return `${server}\n${certificateAuthority}`;
}

function isWatchable(target: Target): target is Target & { readonly watching: TargetWatching } {
  return target.watching !== undefined;
}
