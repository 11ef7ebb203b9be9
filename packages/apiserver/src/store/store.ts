import type { Clock } from '../clock.ts';
import type { ApiObject } from '../object.ts';
import { Entry } from './entry.ts';
import { memoryStorage, type ChangeType, type Storage } from './storage.ts';
import { Table } from './table.ts';

/** One step of the global revision log. */
export interface Change {
  readonly revision: number;
  readonly type: ChangeType;
  readonly storageId: string;
  /** The new state; for DELETED the last content with the deleting revision. */
  readonly entry: Entry;
  /** The state before; absent for ADDED. */
  readonly previous: Entry | undefined;
  readonly time: number;
}

/** How much history is kept for watches and lists of the past. */
export interface HistoryOptions {
  /** Changes kept at least. Default 5,000. */
  readonly limit?: number;
  /** Changes younger than this are kept too, up to four times `limit`. Default 300,000 (5 minutes). */
  readonly minAgeMs?: number;
}

/** A line, and the error behind it for whoever acts on its class and code. */
export type StoreLog = (message: string, fields: { readonly error: unknown }) => void;

export interface StoreOptions {
  readonly clock: Clock;
  readonly history?: HistoryOptions;
  readonly storage?: Storage;
  /** Hears what could not be kept, and what went wrong after a write was done. Default: nobody. */
  readonly log?: StoreLog;
}

/** The revision asked for has been compacted away. */
export class RevisionCompacted extends Error {
  readonly requested: number;
  readonly oldest: number;

  constructor(requested: number, oldest: number) {
    super(`revision ${requested} is compacted, the oldest is ${oldest}`);
    this.name = 'RevisionCompacted';
    this.requested = requested;
    this.oldest = oldest;
  }
}

/**
 * All objects, and one counter for every write to any of them. There is one writer, the event loop: a write is checked,
 * numbered, kept and told to the listeners in one go, so nobody ever sees half of it.
 */
export class Store {
  readonly #clock: Clock;
  readonly #storage: Storage;
  readonly #limit: number;
  readonly #minAgeMs: number;
  readonly #trouble: StoreLog;
  readonly #tables = new Map<string, Table>();
  readonly #listeners = new Map<string, Set<(change: Change) => void>>();
  readonly #observers = new Set<(change: Change) => void>();
  #log: Change[] = [];
  /** Index of the oldest change still in use; the dead front is cut off in larger pieces. */
  #logStart = 0;
  #revision: number;
  #compactedRevision: number;

  constructor(options: StoreOptions) {
    this.#clock = options.clock;
    this.#storage = options.storage ?? memoryStorage;
    this.#limit = options.history?.limit ?? 5_000;
    this.#minAgeMs = options.history?.minAgeMs ?? 300_000;
    this.#trouble = options.log ?? (() => undefined);
    try {
      ({ revision: this.#revision, compactedRevision: this.#compactedRevision } = this.#restore());
    } catch (error) {
      // Nobody gets this store, so nobody could close what it opened.
      this.#storage.close();
      throw error;
    }
  }

  #restore(): { revision: number; compactedRevision: number } {
    const { revision: last, compactedRevision, changes } = this.#storage.load();
    for (const { revision, type, storageId, key, object, time } of changes) {
      const table = this.#table(storageId);
      const previous = table.get(key);
      const entry = new Entry(key, object, revision);
      if (type === 'DELETED') table.delete(key);
      else table.set(entry);
      previous?.archive();
      if (type === 'DELETED') entry.archive();
      if (revision > compactedRevision) this.#log.push({ revision, type, storageId, entry, previous, time });
    }
    return { revision: last, compactedRevision };
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** Changes after this revision are known; older ones are not. */
  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  get(storageId: string, key: string): Entry | undefined {
    return this.#tables.get(storageId)?.get(key);
  }

  /** Entries in key order; of all namespaces when `namespace` is empty. */
  list(storageId: string, namespace = ''): Entry[] {
    return this.#tables.get(storageId)?.array(namespace) ?? [];
  }

  count(storageId: string): number {
    return this.#tables.get(storageId)?.size ?? 0;
  }

  storageIds(): string[] {
    return [...this.#tables.keys()];
  }

  /** What `list` would have answered at an earlier revision. */
  listAt(storageId: string, namespace: string, revision: number): Entry[] {
    if (revision >= this.#revision) return this.list(storageId, namespace);
    if (revision < this.#compactedRevision) throw new RevisionCompacted(revision, this.#compactedRevision);
    const state = new Table();
    for (const entry of this.list(storageId, namespace)) state.set(entry);
    const prefix = namespace ? `${namespace}/` : '';
    for (let index = this.#log.length - 1; index >= this.#logStart; index -= 1) {
      const change = this.#log[index]!;
      if (change.revision <= revision) break;
      if (change.storageId !== storageId || !change.entry.key.startsWith(prefix)) continue;
      if (change.previous) state.set(change.previous);
      else state.delete(change.entry.key);
    }
    return state.array('');
  }

  /** The changes of one kind after a revision, oldest first. */
  changesSince(storageId: string, revision: number): Change[] {
    if (revision < this.#compactedRevision) throw new RevisionCompacted(revision, this.#compactedRevision);
    const changes: Change[] = [];
    for (let index = this.#indexAfter(revision); index < this.#log.length; index += 1) {
      const change = this.#log[index]!;
      if (change.storageId === storageId) changes.push(change);
    }
    return changes;
  }

  /** Stores a new state. The caller has made sure that nobody wrote in between. */
  put(storageId: string, key: string, object: ApiObject): Entry {
    const table = this.#table(storageId);
    const previous = table.get(key);
    const revision = this.#revision + 1;
    const entry = new Entry(key, withRevision(object, revision), revision);
    const change: Change = {
      revision,
      type: previous ? 'MODIFIED' : 'ADDED',
      storageId,
      entry,
      previous,
      time: this.#clock.now(),
    };
    this.#commit(change, () => table.set(entry));
    return entry;
  }

  /** Removes an object; answers its last content with the deleting revision. */
  delete(storageId: string, key: string): Entry | undefined {
    const table = this.#table(storageId);
    const previous = table.get(key);
    if (!previous) return undefined;
    const revision = this.#revision + 1;
    const entry = new Entry(key, withRevision(previous.object, revision), revision);
    const change: Change = { revision, type: 'DELETED', storageId, entry, previous, time: this.#clock.now() };
    this.#commit(change, () => table.delete(key));
    return entry;
  }

  /** Calls `listener` with every change of one kind, in order, inside the write. */
  subscribe(storageId: string, listener: (change: Change) => void): () => void {
    let listeners = this.#listeners.get(storageId);
    if (!listeners) this.#listeners.set(storageId, (listeners = new Set()));
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Calls `observer` with every change of every kind, before the watchers see it. */
  observe(observer: (change: Change) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Forgets all changes up to `revision` (default: everything so far). Watches and lists from before answer 410. */
  compact(revision = this.#revision): void {
    if (revision <= this.#compactedRevision) return;
    this.#compactedRevision = Math.min(revision, this.#revision);
    this.#logStart = this.#indexAfter(this.#compactedRevision);
    this.#trimArray();
    this.#storage.compact(this.#compactedRevision);
  }

  close(): void {
    this.#storage.close();
  }

  #commit(change: Change, apply: () => void): void {
    // Kept first: if that fails the write never happened, and what is shown to anyone has been kept.
    const { revision, type, storageId, entry, time } = change;
    try {
      this.#storage.append({ revision, type, storageId, key: entry.key, object: entry.object, time });
    } catch (error) {
      this.#trouble(`a change could not be kept: ${(error as Error).message}`, { error });
      throw error;
    }
    apply();
    this.#revision = revision;
    this.#log.push(change);
    try {
      for (const observer of this.#observers) observer(change);
    } finally {
      // Whatever an observer throws, watchers must not miss what has happened.
      for (const listener of this.#listeners.get(storageId) ?? []) this.#tell(listener, change);
      change.previous?.archive();
      if (type === 'DELETED') entry.archive();
      this.#forget(time);
    }
  }

  /** The write is done: a listener that fails keeps neither the others from hearing nor the writer from the answer. */
  #tell(listener: (change: Change) => void, change: Change): void {
    try {
      listener(change);
    } catch (error) {
      this.#trouble(`a listener failed on revision ${change.revision}: ${(error as Error).message}`, { error });
    }
  }

  #forget(now: number): void {
    let start = this.#logStart;
    const keep = () => this.#log.length - start;
    while (keep() > this.#limit) {
      if (keep() <= this.#limit * 4 && now - this.#log[start]!.time < this.#minAgeMs) break;
      start += 1;
    }
    if (start === this.#logStart) return;
    this.#compactedRevision = this.#log[start - 1]!.revision;
    this.#logStart = start;
    if (!this.#trimArray()) return;
    try {
      this.#storage.compact(this.#compactedRevision);
    } catch (error) {
      // On a full disk, say. More is kept than need be; the next time it goes with the rest.
      this.#trouble(`history could not be compacted: ${(error as Error).message}`, { error });
    }
  }

  #trimArray(): boolean {
    if (this.#logStart < 1024 && this.#logStart < this.#log.length) return false;
    this.#log = this.#log.slice(this.#logStart);
    this.#logStart = 0;
    return true;
  }

  /** The index of the first change after a revision. */
  #indexAfter(revision: number): number {
    let low = this.#logStart;
    let high = this.#log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#log[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #table(storageId: string): Table {
    let table = this.#tables.get(storageId);
    if (!table) this.#tables.set(storageId, (table = new Table()));
    return table;
  }
}

function withRevision(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
