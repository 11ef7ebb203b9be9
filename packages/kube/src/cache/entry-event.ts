import type { CacheEvent } from '../cache.ts';
import { type DeepReadonly, type KubeObject, type ObjectKey, type ObjectMeta, parseKey } from '../object.ts';
import type { Notification } from './dispatcher.ts';
import type { Entry } from './entry.ts';

/** Reads an entry for an event; parses at most once per event and part. */
export interface EntryReader {
  object(entry: Entry): DeepReadonly<KubeObject>;
  meta(entry: Entry): DeepReadonly<ObjectMeta>;
}

/** A change as handlers see it. Nothing is parsed until it is looked at. */
export class EntryEvent implements CacheEvent {
  readonly #notification: Notification;
  readonly #reader: EntryReader;
  #meta: DeepReadonly<ObjectMeta> | undefined;
  #oldMeta: DeepReadonly<ObjectMeta> | undefined;
  #key: ObjectKey | undefined;

  constructor(notification: Notification, reader: EntryReader) {
    this.#notification = notification;
    this.#reader = reader;
  }

  get type(): CacheEvent['type'] {
    return this.#notification.type;
  }

  get key(): ObjectKey {
    return (this.#key ??= parseKey(this.#notification.entry.key));
  }

  get object(): DeepReadonly<KubeObject> {
    return this.#reader.object(this.#notification.entry);
  }

  get old(): DeepReadonly<KubeObject> | undefined {
    const { old } = this.#notification;
    return old === undefined ? undefined : this.#reader.object(old);
  }

  get meta(): DeepReadonly<ObjectMeta> {
    return (this.#meta ??= this.#reader.meta(this.#notification.entry));
  }

  get oldMeta(): DeepReadonly<ObjectMeta> | undefined {
    const { old } = this.#notification;
    return old === undefined ? undefined : (this.#oldMeta ??= this.#reader.meta(old));
  }

  get generation(): number {
    return this.#notification.entry.generation;
  }

  get oldGeneration(): number | undefined {
    return this.#notification.old?.generation;
  }

  get initial(): boolean {
    return this.#notification.initial;
  }

  get tombstone(): boolean {
    return this.#notification.tombstone;
  }
}
