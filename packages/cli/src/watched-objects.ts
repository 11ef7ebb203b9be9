import {
  createCache,
  type Cache,
  type ConnectedCluster,
  type Informer,
  type InformerScope,
  type Kind,
  type Terminal,
} from '@slipway/kube';

import type { ManagedObject } from './managed-object.ts';
import { namespaceOf, rowsOf, type Sought, type Where } from './sought-objects.ts';

/** A change of an object that was asked for. */
export interface WatchedChange {
  readonly row: ManagedObject;
  readonly isGone: boolean;
}

/** What one request for objects has brought so far. */
interface View {
  readonly sought: Sought;
  readonly informer: Informer;
  readonly rows: Map<string, ManagedObject>;
}

/** The objects that were asked for, kept current by watches: however long somebody looks, nothing is read twice. */
export class WatchedObjects implements AsyncDisposable {
  readonly #cache: Cache;
  readonly #views: readonly View[];

  constructor(
    { transport }: Pick<ConnectedCluster, 'transport'>,
    { clock, random }: Pick<Terminal, 'clock' | 'random'>,
    sought: readonly Sought[],
    where: Where,
  ) {
    this.#cache = createCache({ transport, clock, random });
    this.#views = sought.map((each, index) => ({
      sought: each,
      informer: this.#cache.informer(each.kind, { view: String(index), ...scopeOf(each, where) }),
      rows: new Map(),
    }));
  }

  /** Begins to watch. `changed` is called for everything that is there, and for every change from then on. */
  start(changed: (change: WatchedChange) => void): void {
    for (const { sought, informer, rows } of this.#views)
      informer.onEvent(({ type, object }) => {
        const isGone = type === 'deleted';
        for (const row of rowsOf(sought, object)) {
          if (isGone) rows.delete(row.key);
          else rows.set(row.key, row);
          changed({ row, isGone });
        }
      });
    this.#cache.start();
  }

  /** Resolves when everything is known but the kinds that are not installed; these are watched from when they are. */
  async loaded(missing: readonly Kind[], signal: AbortSignal): Promise<void> {
    const present = this.#views.filter(({ informer }) => !missing.some((kind) => kind === informer.kind));
    await Promise.all(present.map(({ informer }) => informer.whenSynced(signal)));
  }

  /** Everything that is there, in the order it was asked for. */
  objects(): ManagedObject[] {
    return this.#views.flatMap(({ rows }) => [...rows.keys()].toSorted().map((key) => rows.get(key)!));
  }

  /** What keeps it from being current, while it lasts. That a kind is not installed is no news. */
  problems(): string[] {
    const lasting = this.#cache.status().filter(({ synced, denied }) => synced || denied === true);
    return [...new Set(lasting.flatMap(({ problem }) => problem ?? []))];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#cache.stop();
  }
}

function scopeOf(sought: Sought, where: Where): InformerScope {
  const namespace = namespaceOf(sought, where);
  return {
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    ...(where.labelSelector === undefined ? {} : { labelSelector: where.labelSelector }),
    ...(sought.name === undefined ? {} : { fieldSelector: `metadata.name=${sought.name}` }),
  };
}
