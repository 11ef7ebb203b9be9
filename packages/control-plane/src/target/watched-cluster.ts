import {
  type Cache,
  type CacheEvent,
  type CacheMetrics,
  type Client,
  type Clock,
  createCache,
  type DeepReadonly,
  type Informer,
  type InformerScope,
  jsonEqual,
  type Kind,
  keyText,
  kindText,
  type ObjectKey,
  type ObjectOf,
  type Random,
  type Timer,
  type Transport,
} from '@slipway/kube';
import type { Logger } from '@slipway/runtime';

import { type Reachability, reachability } from './reachability.ts';
import type { Target, TargetWatching } from './target.ts';

/** A kind that is watched on control planes, and which of its objects. */
export interface TargetKind {
  readonly kind: Kind;
  readonly labelSelector?: string | Readonly<Record<string, string>>;
  /** Default false: they are also read. */
  readonly metadataOnly?: boolean;
}

export interface WatchedClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Something changed there that nobody here did, or the way there broke or works again. */
  readonly onChange: () => void;
  /** How often it is asked whether it answers, in milliseconds. Default: never. */
  readonly askMs?: number;
}

/** An API server with a cache of its own: what all control planes on it share. */
export class WatchedCluster {
  /** For whom it is watched. */
  readonly followers = new Map<string, ObjectKey>();
  /** The credentials with which it is watched. */
  readonly watching: TargetWatching;
  readonly #cache: Cache;
  readonly #transport: Transport;
  readonly #options: WatchedClusterOptions;
  readonly #declared = new Map<string, TargetKind>();
  /** Kinds whose watch fails. */
  readonly #broken = new Set<string>();
  readonly #clients = new WeakMap<TargetWatching, Client>();
  /** Versions this process wrote, by kind and key: their echo is no news. */
  readonly #written = new Map<string, string>();
  #reachability: Reachability = 'answers';
  #nextQuestion: Timer | undefined;
  #isStopped = false;

  constructor(target: Target & { readonly watching: TargetWatching }, options: WatchedClusterOptions) {
    const { clock, random, log, onChange, askMs } = options;
    this.#options = options;
    this.watching = target.watching;
    this.#transport = target.watching.openTransport();
    const metrics: CacheMetrics = {
      problemChanged: (kind, problem) => {
        if (problem === undefined) this.#broken.delete(kindText(kind));
        else this.#broken.add(kindText(kind));
        onChange();
      },
    };
    this.#cache = createCache({ transport: this.#transport, clock, random, log, metrics });
    this.#cache.start();
    if (askMs !== undefined) this.#askAfter(askMs, target);
  }

  /** Watches these kinds from now on; those it watches already cost nothing. */
  declare(kinds: readonly TargetKind[]): void {
    for (const declared of kinds) {
      const { kind, labelSelector, metadataOnly = false } = declared;
      const name = kindText(kind);
      if (this.#declared.has(name)) continue;
      this.#declared.set(name, declared);
      // Who owns which field decides whether something has to be applied again.
      const scope: InformerScope = { labelSelector, metadataOnly, stripManagedFields: metadataOnly };
      const informer = this.#cache.informer(kind, scope);
      informer.onEvent((event) => {
        if (this.#isNews(kind, event)) this.#options.onChange();
      });
      this.#tellFirstList(informer);
    }
  }

  /** Who reads before the first list hears of nothing that goes in between, so it is told to look again. */
  #tellFirstList(informer: Informer): void {
    informer.whenSynced().then(
      () => this.#options.onChange(),
      () => this.#options.log.debug('left before its first list came', { kind: informer.kind.kind }),
    );
  }

  /** The objects of a watched kind, without a request; `undefined` while the cache cannot say. */
  async list<K extends Kind>(kind: K): Promise<readonly DeepReadonly<ObjectOf<K>>[] | undefined> {
    const name = kindText(kind);
    const isLoaded = this.#cache.status().some((row) => row.synced && kindText(row.kind) === name);
    return isLoaded && !this.#broken.has(name) ? await this.#cache.list(kind) : undefined;
  }

  /** A client with the credentials of `target`, whose writes the cache knows of. */
  clientOf({ watching }: Target & { readonly watching: TargetWatching }): Client {
    const known = this.#clients.get(watching);
    if (known) return known;
    const client = watching.clientFor({
      status: () => this.#cache.status(),
      wrote: (kind, key, outcome) => {
        const { resourceVersion } = outcome;
        if (resourceVersion !== undefined && this.#declared.has(kindText(kind)))
          this.#written.set(idOf(kind, key), resourceVersion);
        this.#cache.wrote(kind, key, outcome);
      },
    });
    this.#clients.set(watching, client);
    return client;
  }

  /** Whether it does not accept the credentials with which it is watched. */
  get isDenied(): boolean {
    return this.#reachability === 'refuses' || this.#cache.status().some(({ denied }) => denied);
  }

  get kinds(): readonly TargetKind[] {
    return [...this.#declared.values()];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#nextQuestion?.cancel();
    await this.#cache.stop();
    await this.#transport.close();
  }

  /**
   * A server that takes packets and answers none breaks no watch, and one that does not know our token any more lets those go on that it has. Both are silent
   * for minutes; asked, they show.
   */
  #askAfter(askMs: number, target: Target): void {
    this.#nextQuestion = this.#options.clock.schedule(askMs, () => {
      void reachability(target).then((found) => {
        if (this.#isStopped) return;
        const isNew = found !== this.#reachability;
        this.#reachability = found;
        if (isNew) this.#options.onChange();
        this.#askAfter(askMs, target);
      });
    });
  }

  #isNews(kind: Kind, event: CacheEvent): boolean {
    const { type, key, meta } = event;
    const id = idOf(kind, key);
    if (type === 'deleted') this.#written.delete(id);
    else if (this.#written.get(id) === meta.resourceVersion) return false;
    return type !== 'updated' || !isOnlyStatus(event);
  }
}

function idOf(kind: Kind, key: ObjectKey): string {
  return `${kindText(kind)} ${keyText(key)}`;
}

/** Where the spec has a version of its own, the same one means that at most the labels changed besides the status. */
function isOnlyStatus({ generation = 0, oldGeneration, meta, oldMeta }: CacheEvent): boolean {
  return generation > 0 && generation === oldGeneration && jsonEqual(meta.labels ?? {}, oldMeta?.labels ?? {});
}
