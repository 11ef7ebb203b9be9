import type { Clock, Timer } from '../clock.ts';
import type { CollectionAddress, LocalClient } from '../local-client.ts';
import type { ApiObject } from '../object.ts';

export interface Change {
  /** The object as it is, or as it was when it went. */
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
  readonly deleted: boolean;
}

export type ChangeListener = (change: Change) => void;

export function keyOf(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}

export function objectKey(object: ApiObject): string {
  return keyOf(object.metadata.namespace, object.metadata.name!);
}

export function splitKey(key: string): { namespace: string | undefined; name: string } {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

const RELIST_DELAY_MS = 1_000;
const REMEMBERED_DELETIONS = 1_000;

/** Inside one process the revision is known to be a number; other clients must not look into it. */
function revisionOf(object: ApiObject): number {
  return Number(object.metadata.resourceVersion);
}

/** A live copy of one collection: lists, then watches, and lists again whenever the watch ends. */
export class Informer {
  readonly address: CollectionAddress;
  readonly #client: LocalClient;
  readonly #clock: Clock;
  readonly #objects = new Map<string, ApiObject>();
  readonly #listeners = new Set<ChangeListener>();
  /** Uids of objects that went lately. */
  readonly #gone = new Set<string>();
  readonly #synced: Promise<void>;
  #markSynced!: () => void;
  #isSynced = false;
  #watch: { close(): void } | undefined;
  #timer: Timer | undefined;
  #stopped = false;
  #listedAt = 0;
  /** Whether the present watch has told anything. */
  #heard = false;

  constructor(client: LocalClient, address: CollectionAddress, clock: Clock) {
    this.#client = client;
    this.address = address;
    this.#clock = clock;
    this.#synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
    void this.#list();
  }

  get(namespace: string | undefined, name: string): ApiObject | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  /** All objects, or those of one namespace. */
  *list(namespace?: string): Generator<ApiObject, void, undefined> {
    for (const object of this.#objects.values()) {
      if (namespace === undefined || object.metadata.namespace === namespace) {
        yield object;
      }
    }
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Resolves when the first list has arrived or failed, or the informer was stopped. */
  synced(): Promise<void> {
    return this.#synced;
  }

  /** Calls `listener` for every object already known and for every change from now on. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    for (const object of Array.from(this.#objects.values())) {
      listener({ object, previous: undefined, deleted: false });
    }
    return () => this.#listeners.delete(listener);
  }

  /** Forgets everything it knows, telling its listeners that the objects are gone. */
  stop(options: { forget?: boolean } = {}): void {
    this.#stopped = true;
    this.#watch?.close();
    this.#timer?.cancel();
    if (options.forget) {
      for (const object of Array.from(this.#objects.values())) {
        this.#remove(object);
      }
    }
    this.#listeners.clear();
    this.#markSynced();
  }

  async #list(): Promise<void> {
    try {
      const list = await this.#client.list(this.address);
      if (this.#stopped) {
        return;
      }
      const present = new Set<string>();
      for (const object of list.items) {
        present.add(objectKey(object));
        this.#set(object);
      }
      for (const [key, object] of Array.from(this.#objects)) {
        if (!present.has(key)) {
          this.#remove(object);
        }
      }
      this.#listedAt = this.#clock.now();
      this.#heard = false;
      this.#watchFrom(list.resourceVersion);
      this.#isSynced = true;
      this.#markSynced();
    } catch {
      if (this.#stopped) {
        return;
      }
      // Nobody waits for this one any longer: a resource that is gone, or whose conversion webhook is down, must not hold up the rest.
      this.#markSynced();
      this.#timer = this.#clock.schedule(RELIST_DELAY_MS, () => void this.#list());
    }
  }

  #watchFrom(resourceVersion: string): void {
    this.#watch = this.#client.watch(
      this.address,
      { resourceVersion },
      {
        event: (type, object) => {
          if (this.#stopped) {
            return;
          }
          this.#heard = true;
          if (type === 'DELETED') {
            this.#remove(object);
          } else {
            this.#set(object);
          }
        },
        closed: () => {
          if (this.#stopped) {
            return;
          }
          // A watch that ends as soon as it begins must not keep the event loop busy forever.
          const isFutile = !this.#heard && this.#clock.now() - this.#listedAt < RELIST_DELAY_MS;
          if (isFutile) {
            this.#timer = this.#clock.schedule(RELIST_DELAY_MS, () => void this.#list());
          } else {
            void this.#list();
          }
        },
      },
    );
  }

  /** Takes in the answer to a write of one's own, which may be ahead of the watch. */
  observe(object: ApiObject): void {
    const previous = this.#objects.get(objectKey(object));
    // Without a known predecessor a late answer could bring a deleted object back to life, except for a brand-new one.
    if (this.#isSynced && (previous?.metadata.uid === object.metadata.uid || this.#isBrandNew(object))) {
      this.#set(object);
    }
  }

  #isBrandNew(object: ApiObject): boolean {
    return !this.#objects.has(objectKey(object)) && !this.#gone.has(object.metadata.uid!);
  }

  #set(object: ApiObject): void {
    const key = objectKey(object);
    const previous = this.#objects.get(key);
    if (previous && revisionOf(previous) >= revisionOf(object)) {
      return;
    }
    this.#objects.set(key, object);
    // A new uid under an old name means the deletion in between was never seen.
    if (previous && previous.metadata.uid !== object.metadata.uid) {
      this.#tell({ object: previous, previous, deleted: true });
      this.#tell({ object, previous: undefined, deleted: false });
      return;
    }
    this.#tell({ object, previous, deleted: false });
  }

  #remove(object: ApiObject): void {
    const key = objectKey(object);
    const previous = this.#objects.get(key);
    this.#gone.add(object.metadata.uid!);
    if (this.#gone.size > REMEMBERED_DELETIONS) {
      this.#gone.delete(this.#gone.values().next().value!);
    }
    if (previous && previous.metadata.uid !== object.metadata.uid) {
      return;
    }
    this.#objects.delete(key);
    this.#tell({ object, previous, deleted: true });
  }

  #tell(change: Change): void {
    for (const listener of Array.from(this.#listeners)) {
      listener(change);
    }
  }
}
