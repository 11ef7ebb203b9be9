import type { Load, ReflectorSink } from '../reflector/sink.ts';
import { isAtLeast, type Version } from '../reflector/resource-version.ts';
import type { Notification } from './dispatcher.ts';
import type { Entry } from './entry.ts';
import type { ObjectDecoder } from './object-decoder.ts';
import type { Slabs } from './slabs.ts';

/** What a partition tells the informer it belongs to. */
export interface PartitionHost {
  readonly listening: boolean;
  changed(notification: Notification): void;
  /** The whole set was replaced. `news` makes up the differences when it is read. */
  replaced(news: () => Iterable<Notification>): void;
  flushed(): void;
}

/** The objects one reflector keeps current: all of a kind, or those of one namespace. */
export class Partition implements ReflectorSink {
  readonly #decoder: ObjectDecoder;
  readonly #slabs: Slabs;
  readonly #host: PartitionHost;
  #entries = new Map<string, Entry>();
  #loaded = false;
  #seen: Version | undefined;
  #events = 0;
  #dropped = 0;

  constructor(decoder: ObjectDecoder, slabs: Slabs, host: PartitionHost) {
    this.#decoder = decoder;
    this.#slabs = slabs;
    this.#host = host;
  }

  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries;
  }

  /** Whether the set was complete once. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Objects and changes received. */
  get events(): number {
    return this.#events;
  }

  /** Those of them that were held already. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether everything up to `version` has been seen; `undefined` when versions cannot be compared. */
  hasSeen(version: Version): boolean | undefined {
    return this.#seen === undefined ? false : isAtLeast(this.#seen, version);
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', bytes: Buffer, start: number, end: number): Version {
    const decoder = this.#decoder;
    decoder.scan(bytes, start, end);
    const { key, version } = decoder;
    this.#events += 1;
    this.#seen = version;
    const old = this.#entries.get(key);
    if (type === 'DELETED') {
      if (old === undefined) return version;
      this.#entries.delete(key);
      this.#slabs.release(old);
      const entry = this.#host.listening ? decoder.keepApart() : old;
      this.#host.changed({ type: 'deleted', entry, old, initial: false, tombstone: false });
      return version;
    }
    if (old?.version === version) {
      this.#dropped += 1;
      return version;
    }
    const entry = decoder.keep();
    this.#entries.set(key, entry);
    if (old !== undefined) this.#slabs.release(old);
    this.#host.changed({ type: old ? 'updated' : 'added', entry, old, initial: false, tombstone: false });
    return version;
  }

  /** `entry` turned out to be no JSON: the next load must not take it over. */
  distrust(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#entries.delete(entry.key);
    this.#slabs.release(entry);
  }

  caughtUp(version: Version): void {
    this.#seen = version;
  }

  flush(): void {
    this.#decoder.release();
    this.#host.flushed();
  }

  beginLoad(): Load {
    return new SideLoad(this.#decoder, this.#slabs, this.#entries, (load, version) => this.#replace(load, version));
  }

  #replace(load: SideLoad, version: Version): void {
    const before = this.#entries;
    const after = load.entries;
    this.#entries = after;
    this.#loaded = true;
    this.#seen = version;
    this.#events += load.received;
    this.#dropped += load.same;

    const missing: Entry[] = [];
    if (load.same < before.size) {
      for (const entry of before.values()) {
        const next = after.get(entry.key);
        if (next === entry) continue;
        this.#slabs.release(entry);
        if (next === undefined) missing.push(entry);
      }
    }
    // The live set goes on changing while the differences are told, so they are taken from this copy.
    const present = this.#host.listening && load.same < after.size ? Array.from(after.values()) : [];
    this.#host.replaced(() => differences(before, present, missing));
  }
}

function* differences(before: ReadonlyMap<string, Entry>, present: Iterable<Entry>, missing: Iterable<Entry>) {
  for (const entry of missing) {
    yield { type: 'deleted', entry, old: entry, initial: true, tombstone: true } satisfies Notification;
  }
  for (const entry of present) {
    const old = before.get(entry.key);
    if (old === entry) continue;
    const type = old === undefined ? 'added' : 'updated';
    yield { type, entry, old, initial: true, tombstone: false } satisfies Notification;
  }
}

/** A new set next to the live one. Objects that did not change are taken over, bytes and all. */
class SideLoad implements Load {
  readonly entries = new Map<string, Entry>();
  readonly #decoder: ObjectDecoder;
  readonly #slabs: Slabs;
  readonly #live: ReadonlyMap<string, Entry>;
  readonly #done: (load: SideLoad, version: Version) => void;
  received = 0;
  /** How many of `entries` are those of the live set. */
  same = 0;

  constructor(
    decoder: ObjectDecoder,
    slabs: Slabs,
    live: ReadonlyMap<string, Entry>,
    done: (load: SideLoad, version: Version) => void,
  ) {
    this.#decoder = decoder;
    this.#slabs = slabs;
    this.#live = live;
    this.#done = done;
  }

  put(bytes: Buffer, start: number, end: number): void {
    this.#decoder.scan(bytes, start, end);
    this.#keep();
  }

  putItem(bytes: Buffer, start: number): number {
    this.#decoder.scanItem(bytes, start);
    this.#keep();
    return this.#decoder.end;
  }

  remove(bytes: Buffer, start: number, end: number): void {
    this.#decoder.scan(bytes, start, end);
    this.#forget(this.#decoder.key);
  }

  commit(version: Version): void {
    this.#done(this, version);
  }

  #keep(): void {
    const { key, version } = this.#decoder;
    this.received += 1;
    if (this.entries.get(key)?.version === version) return;
    this.#forget(key);
    const live = this.#live.get(key);
    if (live?.version === version) {
      this.entries.set(key, live);
      this.same += 1;
    } else this.entries.set(key, this.#decoder.keep());
  }

  #forget(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    if (entry === this.#live.get(key)) this.same -= 1;
    else this.#slabs.release(entry);
  }

  /** The load will not be committed: its bytes are given back. */
  discard(): void {
    for (const entry of this.entries.values()) {
      if (entry !== this.#live.get(entry.key)) this.#slabs.release(entry);
    }
    this.entries.clear();
  }
}
