import { kindText, type CacheEvent, type Client, type Kind, type KubeObject, type ObjectKey } from '@slipway/kube';
import type { EmitKey, EventSource, EventSourceContext } from '@slipway/runtime';

import { memberLabel } from './membership.ts';

/** The keys to reconcile when a member, an object of `kind`, changes. Also told of members that were there before the watch. */
export type OwnersOf = (event: CacheEvent, kind: Kind) => readonly ObjectKey[];

/** What became of a wish to watch. */
export interface Following {
  /** A kind is watched that was not before: what happened to its objects until now was not seen. */
  readonly isNew: boolean;
  /** A kind may not be watched: nothing will tell of its objects. */
  readonly isBlind: boolean;
}

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
  readonly #running = new Set<{ emit: EmitKey; context: EventSourceContext; stops: Map<string, () => void> }>();

  constructor(owners: OwnersOf) {
    this.#owners = owners;
  }

  /** Watches members of these kinds from now on. Costs nothing for kinds already watched. Returns whether one was new. */
  follow(kinds: Iterable<Kind>): boolean {
    let isNew = false;
    for (const kind of kinds) {
      const key = kindText(kind);
      if (this.#followed.has(key)) continue;
      isNew = true;
      this.#followed.set(key, kind);
      for (const run of this.#running) this.#watch(run, key, kind);
    }
    return isNew;
  }

  /** Watches the kinds of these objects, as far as the server serves them by now and this process may watch them. */
  async followKindsOf(
    client: Pick<Client, 'resolve' | 'canI'>,
    objects: readonly Pick<KubeObject, 'apiVersion' | 'kind'>[],
  ): Promise<Following> {
    const wanted = new Map(objects.map((object) => [`${object.apiVersion}/${object.kind}`, object]));
    const kinds = await Promise.all(
      // Who applies the objects says what is wrong with a kind; here it is just not watched yet.
      [...wanted.values()].map(({ apiVersion, kind }) => client.resolve(apiVersion, kind).catch(() => undefined)),
    );
    return await this.followAllowed(
      client,
      kinds.filter((kind) => kind !== undefined),
    );
  }

  /** Watches those of these kinds that this process may watch: it may work for others who may do more than itself. */
  async followAllowed(client: Pick<Client, 'canI'>, kinds: readonly Kind[]): Promise<Following> {
    const allowed = await Promise.all(
      kinds.map(async (kind) => {
        if (this.#followed.has(kindText(kind))) return true;
        const answer = await client.canI({ verb: 'watch', group: kind.group, resource: kind.plural });
        return answer.allowed;
      }),
    );
    const isNew = this.follow(kinds.filter((_kind, index) => allowed[index]));
    return { isNew, isBlind: allowed.includes(false) };
  }

  start(emit: EmitKey, context: EventSourceContext): () => void {
    const run = { emit, context, stops: new Map<string, () => void>() };
    this.#running.add(run);
    for (const [key, kind] of this.#followed) this.#watch(run, key, kind);
    return () => {
      this.#running.delete(run);
      for (const stop of run.stops.values()) stop();
    };
  }

  #watch(
    run: { emit: EmitKey; context: EventSourceContext; stops: Map<string, () => void> },
    key: string,
    kind: Kind,
  ): void {
    const informer = run.context.cluster.cache.informer(kind, {
      view: 'members',
      metadataOnly: true,
      labelSelector: memberLabel,
    });
    run.stops.set(
      key,
      informer.onEvent((event) => {
        const owners = this.#owners(event, kind);
        // What is there already was read by the reconciler that asked for the watch.
        if (event.initial && event.type === 'added') return;
        for (const owner of owners) run.emit(owner, { afterMs: collectMs });
      }),
    );
  }
}
