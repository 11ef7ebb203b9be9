import { ApiError } from '../api-error.ts';
import type { Timer } from '../clock.ts';
import type { Representation } from '../http/negotiate.ts';
import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { StreamSink } from '../server.ts';
import { Entry, namespaceOfKey } from '../store/entry.ts';
import type { ChangeType } from '../store/storage.ts';
import { RevisionCompacted, type Change } from '../store/store.ts';
import type { Answer } from './answer.ts';
import type { Core, ResourceRequest } from './core.ts';
import { listOptions, type ListOptions } from './options.ts';
import { parseResourceVersion } from './resource-version.ts';
import { selectionOf, type Selection } from './selection.ts';
import { inVersion } from './versions.ts';
import { eventEncoder, SharedEvent, sharedEvents, type EventEncoder, type WatchLine } from './watch-encoder.ts';

const bookmarkEveryMs = 60_000;
const bookmarkBeforeEndMs = 2_000;
const shortestDefaultMs = 1_800_000;

/** GET of a collection with `watch`. */
export async function watch(core: Core, request: ResourceRequest, forced = false): Promise<Answer> {
  const { resource } = request;
  const options = listOptions(request.query, forced);
  // Watching one object through the deprecated path is watching its name.
  const fieldSelector = request.name ? `metadata.name=${request.name}` : options.fieldSelector;
  const selection = selectionOf(resource, request.namespace, { ...options, fieldSelector });
  const revision = parseResourceVersion(options.resourceVersion, 'watch');
  return {
    kind: 'stream',
    start(sink) {
      const watcher = new Watcher(core, resource, selection, options, request.representation, sink);
      watcher.start(revision);
      return watcher;
    },
  };
}

/** What is there at a revision, and how much of it has been sent. */
interface InitialState {
  readonly entries: readonly Entry[];
  readonly revision: number;
  next: number;
}

class Watcher {
  readonly #core: Core;
  readonly #resource: Resource;
  readonly #selection: Selection;
  readonly #options: ListOptions;
  readonly #encoder: EventEncoder;
  readonly #sink: StreamSink;
  readonly #timers: { end?: Timer; bookmark?: Timer } = {};
  #unsubscribe: (() => void) | undefined;
  #closed = false;
  /** What was there when the watch began and has not been sent yet. */
  #state: InitialState | undefined;
  /** Changes up to this revision have been sent, or are none of this watch's business. */
  #sentUpTo = 0;
  /** The receiver does not keep up: changes stay in the log of the store until it has. */
  #behind = false;
  /** Events wait here in order while a conversion is under way. */
  #tail: Promise<void> | undefined;
  #deadline = Infinity;

  constructor(
    core: Core,
    resource: Resource,
    selection: Selection,
    options: ListOptions,
    representation: Representation,
    sink: StreamSink,
  ) {
    this.#core = core;
    this.#resource = resource;
    this.#selection = selection;
    this.#options = options;
    this.#sink = sink;
    this.#encoder = sink.event ? sharedEvents(resource) : eventEncoder(core, resource, representation);
  }

  start(revision: number): void {
    const { store, clock, random } = this.#core;
    const { timeoutSeconds, sendInitialEvents, allowWatchBookmarks } = this.#options;
    const timeoutMs = timeoutSeconds ? timeoutSeconds * 1000 : shortestDefaultMs * (1 + random.next());
    this.#deadline = clock.now() + timeoutMs;
    this.#timers.end = clock.schedule(timeoutMs, () => this.#end());
    this.#sentUpTo = Math.max(revision, 0);
    if (sendInitialEvents ?? revision === 0) {
      this.#state = { entries: this.#present(), next: 0, revision: Math.max(store.revision, revision) };
      this.#sentUpTo = this.#state.revision;
    } else if (revision <= 0) this.#sentUpTo = store.revision;
    this.#catchUp();
    if (this.#closed) return;
    this.#unsubscribe = store.subscribe(this.#resource.storageId, (change) => {
      if (!this.#behind && change.revision > this.#sentUpTo) this.#deliver(change);
    });
    if (allowWatchBookmarks) this.#scheduleBookmark();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unsubscribe?.();
    this.#timers.end?.cancel();
    this.#timers.bookmark?.cancel();
  }

  #end(): void {
    if (this.#closed) return;
    this.close();
    this.#sink.end();
  }

  /** Sends what the receiver has not been sent, as far as it keeps up. */
  #catchUp(): void {
    try {
      if (this.#state) this.#sendState(this.#state);
      if (this.#state || this.#behind || this.#closed) return;
      for (const change of this.#core.store.changesSince(this.#resource.storageId, this.#sentUpTo)) {
        this.#deliver(change);
        if (this.#behind || this.#closed) return;
      }
    } catch (error) {
      if (!(error instanceof RevisionCompacted)) throw error;
      this.#write(this.#encoder.error(tooOld(error).status));
      this.#end();
    }
  }

  #present(): readonly Entry[] {
    const { store } = this.#core;
    const { key, namespace } = this.#selection;
    if (key === undefined) return store.list(this.#resource.storageId, namespace);
    const pinned = store.get(this.#resource.storageId, key);
    return pinned ? [pinned] : [];
  }

  #sendState(state: InitialState): void {
    const { sendInitialEvents, allowWatchBookmarks } = this.#options;
    while (state.next < state.entries.length) {
      if (this.#behind || this.#closed) return;
      const entry = state.entries[state.next++]!;
      this.#send(this.#ifMatching(entry, () => this.#encoder.event('ADDED', entry)));
    }
    this.#state = undefined;
    if (sendInitialEvents && allowWatchBookmarks) this.#send(this.#encoder.bookmark(state.revision, true));
  }

  #deliver(change: Change): void {
    this.#sentUpTo = change.revision;
    const { key, namespace } = this.#selection;
    if (key !== undefined ? change.entry.key !== key : namespace && namespaceOfKey(change.entry.key) !== namespace)
      return;
    this.#send(this.#render(change));
  }

  /** The event for a change, seen through the selector: entering it is ADDED, leaving it DELETED with the old content. */
  #render(change: Change): WatchLine | undefined | Promise<WatchLine | undefined> {
    const { matches } = this.#selection;
    if (!matches) return this.#encoder.change(change.type, change);
    const before = change.previous && inVersion(change.previous, this.#resource);
    const after = change.type === 'DELETED' ? undefined : inVersion(change.entry, this.#resource);
    const decide = (previous: ApiObject | undefined, current: ApiObject | undefined) => {
      const did = previous !== undefined && matches(previous);
      const does = current !== undefined && matches(current);
      if (!did && !does) return undefined;
      const type: ChangeType = does ? (did ? 'MODIFIED' : 'ADDED') : 'DELETED';
      if (does || change.type === 'DELETED') return this.#encoder.change(type, change);
      return this.#encoder.event('DELETED', leaving(change));
    };
    if (before instanceof Promise || after instanceof Promise) {
      return Promise.all([before, after]).then(([previous, current]) => decide(previous, current));
    }
    return decide(before, after);
  }

  #ifMatching(
    entry: Entry,
    encode: () => WatchLine | Promise<WatchLine>,
  ): WatchLine | undefined | Promise<WatchLine | undefined> {
    const { matches } = this.#selection;
    if (!matches) return encode();
    const object = inVersion(entry, this.#resource);
    if (object instanceof Promise) return object.then((converted) => (matches(converted) ? encode() : undefined));
    return matches(object) ? encode() : undefined;
  }

  #send(event: WatchLine | undefined | Promise<WatchLine | undefined>): void {
    if (!this.#tail && !(event instanceof Promise)) {
      if (event) this.#write(event);
      return;
    }
    const tail = (this.#tail ?? Promise.resolve())
      .then(() => event)
      .then(
        (bytes) => {
          if (bytes) this.#write(bytes);
        },
        (error: unknown) => {
          if (error instanceof ApiError) this.#write(this.#encoder.error(error.status));
          this.#end();
        },
      )
      .then(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
  }

  #write(line: WatchLine): void {
    if (this.#closed) return;
    try {
      if (line instanceof SharedEvent) this.#sink.event!(line.type, line.object);
      else if (!this.#sink.write(line) && this.#sink.onceDrained && !this.#behind) {
        this.#behind = true;
        this.#sink.onceDrained(() => this.#resume());
      }
    } catch (error) {
      // A receiver that fails must not make the write fail it was being told about.
      this.close();
      this.#sink.fail?.(error as Error);
    }
  }

  #resume(): void {
    this.#behind = false;
    if (!this.#closed) this.#catchUp();
  }

  #scheduleBookmark(): void {
    const { clock, store } = this.#core;
    const now = clock.now();
    const beforeEnd = this.#deadline - bookmarkBeforeEndMs;
    const at = beforeEnd > now ? Math.min(now + bookmarkEveryMs, beforeEnd) : now + bookmarkEveryMs;
    if (at >= this.#deadline) return;
    this.#timers.bookmark = clock.schedule(at - now, () => {
      // A bookmark says that nothing up to it is still to come.
      if (!this.#behind && !this.#state) this.#send(this.#encoder.bookmark(store.revision, false));
      if (!this.#closed) this.#scheduleBookmark();
    });
  }
}

/** The content an object had before it left the selection, at the revision at which it left. */
function leaving(change: Change): Entry {
  return change.entry.cached('leaving', () => {
    const { object, key } = change.previous!;
    const metadata = { ...object.metadata, resourceVersion: String(change.revision) };
    return new Entry(key, { ...object, metadata }, change.revision);
  });
}

function tooOld(error: RevisionCompacted): ApiError {
  return new ApiError({
    code: 410,
    reason: 'Expired',
    message: `too old resource version: ${error.requested} (${error.oldest + 1})`,
  });
}
