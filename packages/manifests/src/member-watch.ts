import {
  kindText,
  seconds,
  timeLimit,
  type CacheEvent,
  type Client,
  type Informer,
  type Kind,
  type KubeObject,
  type ObjectKey,
} from '@slipway/kube';
import type { EmitKey, EventSource, EventSourceContext } from '@slipway/runtime';

import { memberLabel } from './membership.ts';

/** The keys to reconcile when a member, an object of `kind`, changes. Also told of members that were there before the watch. */
export type OwnersOf = (event: CacheEvent, kind: Kind) => readonly ObjectKey[];

/** What became of a wish to watch. */
export interface Following {
  /** A kind is watched that was not before: what happened to its objects until now was not seen. */
  readonly isNew: boolean;
  /** The first list of a kind has not come: what is read before it may change unseen. The owner is woken when it comes. */
  readonly isLate: boolean;
  /** A kind may not be watched: nothing will tell of its objects. */
  readonly isBlind: boolean;
}

/** A watch of one kind, while the controller runs. */
interface Watched {
  readonly informer: Informer;
  readonly begunAt: number;
  readonly stop: () => void;
}

interface Run {
  readonly emit: EmitKey;
  readonly context: EventSourceContext;
  readonly watched: Map<string, Watched>;
}

/** How long a reconciler waits for the first list of a kind, from the begin of the watch: a server loads a kind it has just learnt for a while. */
const firstListMs = seconds(1);

/** How long changes are collected: a thousand members that are written or deleted at once are a few passes, not a thousand. */
const collectMs = 200;

/**
 * Wakes a controller when a member of one of its sets changes or goes: by hand, or because its status moved on. Only metadata
 * of marked objects is fetched and kept. Which kinds to watch is known only once sets are read, so a reconciler says so as it
 * goes (`follow`).
 */
export class MemberWatch implements EventSource {
  readonly name = 'members';
  readonly #owners: OwnersOf;
  readonly #followed = new Map<string, Kind>();
  readonly #running = new Set<Run>();

  constructor(owners: OwnersOf) {
    this.#owners = owners;
  }

  /**
   * Watches members of these kinds from now on, for one owner. Costs nothing for kinds already watched. Whatever the owner reads
   * afterwards is followed without a gap, unless a first list is late.
   */
  async follow(owner: ObjectKey, kinds: Iterable<Kind>): Promise<Pick<Following, 'isNew' | 'isLate'>> {
    let isNew = false;
    const keys: string[] = [];
    for (const kind of kinds) {
      const key = kindText(kind);
      keys.push(key);
      if (this.#followed.has(key)) continue;
      isNew = true;
      this.#followed.set(key, kind);
      for (const run of this.#running) this.#watch(run, key, kind);
    }
    const listed = await Promise.all([...this.#running].map((run) => this.#listed(run, owner, keys)));
    return { isNew, isLate: listed.includes(false) };
  }

  /** Watches the kinds of these objects, as far as the server serves them by now and this process may watch them. */
  async followKindsOf(
    owner: ObjectKey,
    client: Pick<Client, 'resolve' | 'canI'>,
    objects: readonly Pick<KubeObject, 'apiVersion' | 'kind'>[],
  ): Promise<Following> {
    const wanted = new Map(objects.map((object) => [`${object.apiVersion}/${object.kind}`, object]));
    const kinds = await Promise.all(
      // Who applies the objects says what is wrong with a kind; here it is just not watched yet.
      [...wanted.values()].map(({ apiVersion, kind }) => client.resolve(apiVersion, kind).catch(() => undefined)),
    );
    return await this.followAllowed(
      owner,
      client,
      kinds.filter((kind) => kind !== undefined),
    );
  }

  /** Watches those of these kinds that this process may watch: it may work for others who may do more than itself. */
  async followAllowed(owner: ObjectKey, client: Pick<Client, 'canI'>, kinds: readonly Kind[]): Promise<Following> {
    const allowed = await Promise.all(
      kinds.map(async (kind) => {
        if (this.#followed.has(kindText(kind))) return true;
        const answer = await client.canI({ verb: 'watch', group: kind.group, resource: kind.plural });
        return answer.allowed;
      }),
    );
    const seen = kinds.filter((_kind, index) => allowed[index]);
    return { ...(await this.follow(owner, seen)), isBlind: allowed.includes(false) };
  }

  start(emit: EmitKey, context: EventSourceContext): () => void {
    const run: Run = { emit, context, watched: new Map() };
    this.#running.add(run);
    for (const [key, kind] of this.#followed) this.#watch(run, key, kind);
    return () => {
      this.#running.delete(run);
      for (const { stop } of run.watched.values()) stop();
    };
  }

  #watch(run: Run, key: string, kind: Kind): void {
    const informer = run.context.cluster.cache.informer(kind, {
      view: 'members',
      metadataOnly: true,
      labelSelector: memberLabel,
    });
    const stop = informer.onEvent((event) => {
      const owners = this.#owners(event, kind);
      // Owners read after the first list, or are woken by it.
      if (event.initial && event.type === 'added') return;
      for (const owner of owners) run.emit(owner, { afterMs: collectMs });
    });
    run.watched.set(key, { informer, begunAt: run.context.clock.now(), stop });
  }

  /** Waits for first lists that are to come soon. Those that do not will wake the owner. */
  async #listed({ emit, context, watched }: Run, owner: ObjectKey, keys: readonly string[]): Promise<boolean> {
    const { clock, signal } = context;
    const awaited = keys.map((key) => watched.get(key)!).filter(({ informer }) => !informer.synced);
    await Promise.all(
      awaited.map(async ({ informer, begunAt }) => {
        using limit = timeLimit(clock, Math.max(0, begunAt + firstListMs - clock.now()), { signal });
        await informer.whenSynced(limit.signal).catch(() => undefined);
      }),
    );
    const late = awaited.filter(({ informer }) => !informer.synced);
    for (const { informer } of late)
      informer.whenSynced(signal).then(
        () => emit(owner),
        () => context.log.debug('stopped before the first list came', { kind: informer.kind.kind }),
      );
    return late.length === 0;
  }
}
