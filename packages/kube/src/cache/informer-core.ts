import type { CacheEvent, CacheIndex, CacheQuery, Informer, InformerScope, InformerStatus } from '../cache.ts';
import type { Clock } from '../clock.ts';
import { timeLimit } from '../time-limit.ts';
import { type Kind, kindText } from '../kind.ts';
import { type DeepReadonly, type KubeObject, keyText, type ObjectKey, parseKey } from '../object.ts';
import type { Random } from '../random.ts';
import type { Problem, RestartReason } from '../reflector/failure.ts';
import { UndecodableError } from '../reflector/json-bytes.ts';
import type { ReflectorTimings, ServerAbilities } from '../reflector/options.ts';
import { Reflector } from '../reflector/reflector.ts';
import { parseVersion } from '../reflector/resource-version.ts';
import { TimeSlice, type YieldToLoop } from '../reflector/time-slice.ts';
import { type LabelSelectorInput, matchesLabels, parseLabelSelector } from '../selectors.ts';
import type { Transport } from '../transport.ts';
import { CacheError } from './cache-error.ts';
import type { CacheLog, CacheMetrics } from './cache-observers.ts';
import { Dispatcher, type Notification } from './dispatcher.ts';
import type { Entry } from './entry.ts';
import { EntryEvent, type EntryReader } from './entry-event.ts';
import { ObjectDecoder } from './object-decoder.ts';
import { ObjectIndex } from './object-index.ts';
import { type OwnWrite, OwnWrites } from './own-writes.ts';
import { ParsedObjects } from './parsed-objects.ts';
import { Partition } from './partition.ts';
import {
  type DeclaredScope,
  type Indices,
  mergeIndices,
  mergeScope,
  normaliseScope,
  type ResolvedScope,
  resolveScope,
} from './scope.ts';
import type { Slabs } from './slabs.ts';
import { SortedKeys } from './sorted-keys.ts';

/** What all informers of a cache share. */
export interface InformerSurroundings {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly yieldToLoop: YieldToLoop;
  readonly abilities: ServerAbilities;
  readonly slabs: Slabs;
  readonly timings: ReflectorTimings | undefined;
  readonly log: CacheLog | undefined;
  readonly metrics: CacheMetrics | undefined;
  readonly ownWriteWaitMs: number;
  readonly loadWaitMs: number;
  readonly parsedObjects: number;
  readonly freeze: boolean;
}

interface Part {
  readonly partition: Partition;
  readonly reflector: Reflector;
  problem: Problem | undefined;
}

const namespaceIndex = Symbol('namespace');

/** One declared kind: its reflectors, what they have brought, who listens and what it is found by. */
export class InformerCore implements Informer {
  readonly kind: Kind;
  readonly #around: InformerSurroundings;
  readonly #parsed: ParsedObjects;
  readonly #dispatcher: Dispatcher;
  readonly #ownWrites: OwnWrites;
  readonly #reader: EntryReader;
  readonly #indexObjects = new Map<string | typeof namespaceIndex, ObjectIndex>();
  readonly #restarts: Record<string, number> = {};
  readonly #sorted = new SortedKeys();
  #declared: DeclaredScope;
  #indices: Indices = {};
  #scope: ResolvedScope | undefined;
  #parts = new Map<string, Part>();
  #loadWaiters = new Set<() => void>();
  #lastActivity: number | undefined;
  #handlerErrors = 0;
  #ownWriteTimeouts = 0;
  #stopped = false;

  constructor(kind: Kind, scope: InformerScope, around: InformerSurroundings) {
    this.kind = kind;
    this.#around = around;
    this.#declared = normaliseScope(kind, scope);
    this.#parsed = new ParsedObjects(around.parsedObjects, around.freeze);
    this.#dispatcher = new Dispatcher({
      clock: around.clock,
      yieldToLoop: around.yieldToLoop,
      eventOf: (notification) => new EntryEvent(notification, this.#reader),
      onError: (error) => this.#handlerFailed(error, 'an event handler'),
      onTold: ({ old }) => {
        if (old && !old.alive) this.#parsed.forget(old);
      },
    });
    this.#ownWrites = new OwnWrites({
      clock: around.clock,
      waitMs: around.ownWriteWaitMs,
      isSeen: (write) => this.#isSeen(write),
      onTimeout: (write) => {
        this.#ownWriteTimeouts += 1;
        around.metrics?.ownWriteTimedOut?.(kind);
        around.log?.warn('a write of this process did not show up in the cache in time', {
          kind: kindText(kind),
          key: write.key,
          waitMs: around.ownWriteWaitMs,
        });
      },
    });
    this.#reader = {
      object: (entry) => this.#read(entry, () => this.#parsed.get(entry)),
      meta: (entry) => this.#read(entry, () => this.#parsed.meta(entry)),
    };
    this.#addIndices(scope.indices as Indices | undefined);
  }

  /** A further declaration of the same kind. */
  declare(scope: InformerScope): void {
    this.#declared = mergeScope(this.kind, this.#declared, normaliseScope(this.kind, scope), this.#scope !== undefined);
    this.#addIndices(scope.indices as Indices | undefined);
  }

  get started(): boolean {
    return this.#scope !== undefined;
  }

  get synced(): boolean {
    if (this.#scope === undefined) return false;
    for (const { partition } of this.#parts.values()) if (!partition.loaded) return false;
    return true;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return this.loaded(Number.POSITIVE_INFINITY, signal);
  }

  get size(): number {
    let sum = 0;
    for (const { partition } of this.#parts.values()) sum += partition.entries.size;
    return sum;
  }

  keys(): Iterable<ObjectKey> {
    return keysOf(Array.from(this.#entries(), ({ key }) => key));
  }

  start(): void {
    if (this.#scope !== undefined || this.#stopped) return;
    this.#scope = resolveScope(this.kind, this.#declared);
    for (const namespace of this.#scope.namespaces ?? [undefined]) {
      this.#parts.set(namespace ?? '', this.#makePart(this.#scope, namespace));
    }
    for (const { reflector } of this.#parts.values()) reflector.start();
  }

  stop(): void {
    this.#stopped = true;
    for (const { reflector } of this.#parts.values()) reflector.stop();
    this.#dispatcher.stop();
    this.#ownWrites.stop();
    for (const waiter of this.#loadWaiters) waiter();
  }

  onEvent(handler: (event: CacheEvent) => void): () => void {
    return this.#dispatcher.subscribe(handler, present(Array.from(this.#entries())));
  }

  status(): InformerStatus {
    const problems: string[] = [];
    let events = 0;
    let unchanged = 0;
    let denied = false;
    for (const { problem, partition } of this.#parts.values()) {
      if (problem !== undefined) problems.push(problem.text);
      denied ||= problem?.denied ?? false;
      events += partition.events;
      unchanged += partition.dropped;
    }
    const { synced } = this;
    const waiting = synced ? undefined : this.started ? 'still loading' : 'the cache has not been started';
    const problem = problems.length > 0 ? problems.join(' ') : waiting && `${kindText(this.kind)}: ${waiting}`;
    return {
      kind: this.kind,
      synced,
      objects: this.size,
      ...(this.#lastActivity === undefined ? {} : { lastActivity: this.#lastActivity }),
      ...(problem === undefined ? {} : { problem }),
      ...(denied ? { denied } : {}),
      counts: {
        events,
        unchanged,
        parses: this.#parsed.parses,
        handlerErrors: this.#handlerErrors,
        ownWriteTimeouts: this.#ownWriteTimeouts,
        restarts: { ...this.#restarts },
      },
    };
  }

  wrote(key: ObjectKey, outcome: { resourceVersion?: string; uid?: string; deleted?: boolean }): void {
    if (this.#stopped || !this.#holds(key)) return;
    const text = keyText(key);
    if (outcome.deleted) {
      const entry = this.#find(key);
      const uid = outcome.uid ?? (entry && this.#parsed.uid(entry));
      if (uid !== undefined) this.#ownWrites.add(text, undefined, uid);
    } else if (outcome.resourceVersion) this.#ownWrites.add(text, parseVersion(outcome.resourceVersion), outcome.uid);
  }

  async get(key: ObjectKey): Promise<DeepReadonly<KubeObject> | undefined> {
    this.#checkKey(key);
    if (!this.synced) await this.loaded();
    const unseen = this.#ownWrites.seen(keyText(key));
    if (unseen) await unseen;
    const entry = this.#find(key);
    return entry && this.#reader.object(entry);
  }

  async list(query: CacheQuery): Promise<readonly DeepReadonly<KubeObject>[]> {
    const { namespace, index, labelSelector } = query;
    if (namespace !== undefined) this.#checkKey({ namespace, name: '' });
    if (index && !this.#indexObjects.has(index.name)) throw this.#unknownIndex(index.name);
    const selector = typeof labelSelector === 'string' ? parseLabelSelector(labelSelector) : labelSelector;
    if (!this.synced) await this.loaded();
    const unseen = this.#ownWrites.seen(undefined);
    if (unseen) await unseen;
    const entries = await this.#candidates(namespace, index);
    return this.#parseAll(entries, selector);
  }

  /** Resolves when everything has been loaded once; rejects when the cache stops or, with a limit, when that takes too long. */
  loaded(limitMs: number = this.#around.loadWaitMs, signal?: AbortSignal): Promise<void> {
    if (this.#stopped) return Promise.reject(this.#stoppedError());
    if (this.synced) return Promise.resolve();
    const unlimited = limitMs === Number.POSITIVE_INFINITY;
    if (!unlimited && !this.started) {
      return Promise.reject(
        new CacheError('NotStarted', `${kindText(this.kind)} cannot be read: call start() on the cache first`),
      );
    }
    const { clock } = this.#around;
    const tooLate = () =>
      new CacheError(
        'NotLoaded',
        `${kindText(this.kind)} is not loaded after ${limitMs / 1000} s: ${this.status().problem}`,
      );
    return new Promise((resolve, reject) => {
      const limit = unlimited ? undefined : timeLimit(clock, limitMs, { ...(signal && { signal }), error: tooLate });
      const end = limit?.signal ?? signal;
      const finish = (error?: unknown) => {
        limit?.[Symbol.dispose]();
        end?.removeEventListener('abort', onAbort);
        this.#loadWaiters.delete(waiter);
        if (error === undefined) resolve();
        else reject(error);
      };
      const waiter = () => {
        if (this.#stopped) finish(this.#stoppedError());
        else if (this.synced) finish();
      };
      const onAbort = () => finish(end!.reason);
      this.#loadWaiters.add(waiter);
      end?.addEventListener('abort', onAbort, { once: true });
      if (end?.aborted) onAbort();
    });
  }

  // Parts

  #makePart(scope: ResolvedScope, namespace: string | undefined): Part {
    const { transport, clock, random, yieldToLoop, abilities, slabs, timings, log } = this.#around;
    const { kind } = this;
    const decoder = new ObjectDecoder(
      {
        kind,
        metadataOnly: scope.metadataOnly,
        stripManagedFields: scope.stripManagedFields,
        fields: scope.fields,
      },
      slabs,
    );
    const dispatcher = this.#dispatcher;
    const partition = new Partition(decoder, slabs, {
      get listening() {
        return dispatcher.listening;
      },
      changed: (notification) => this.#changed(notification),
      replaced: (news) => this.#replaced(news),
      flushed: () => this.#flushed(),
    });
    const reflector = new Reflector({
      query: {
        kind,
        ...(namespace === undefined ? {} : { namespace }),
        ...(scope.labelSelector === undefined ? {} : { labelSelector: scope.labelSelector }),
        ...(scope.fieldSelector === undefined ? {} : { fieldSelector: scope.fieldSelector }),
        metadataOnly: scope.metadataOnly,
      },
      transport,
      clock,
      random,
      yieldToLoop,
      abilities,
      sink: partition,
      timings,
      report: {
        problem: (problem) => {
          const isNews = stateOf(problem) !== stateOf(part.problem);
          part.problem = problem;
          if (isNews) this.#around.metrics?.problemChanged?.(kind, problem?.text);
        },
        restarted: (reason) => this.#restarted(reason),
        activity: (epochMs) => {
          this.#lastActivity = epochMs;
        },
        debug: (message, fields) => log?.debug(message, fields),
        warn: (message, fields) => log?.warn(message, fields),
      },
    });
    const part: Part = { partition, reflector, problem: undefined };
    return part;
  }

  #restarted(reason: RestartReason): void {
    this.#restarts[reason] = (this.#restarts[reason] ?? 0) + 1;
    this.#around.metrics?.watchRestarted?.(this.kind, reason);
  }

  #changed(notification: Notification): void {
    const { type, entry, old } = notification;
    if (old !== undefined) {
      for (const index of this.#indexObjects.values()) index.remove(old);
      if (!this.#dispatcher.listening) this.#parsed.forget(old);
    }
    if (type === 'added') this.#sorted.add(entry.key);
    if (type === 'deleted') this.#sorted.remove(entry.key);
    else for (const index of this.#indexObjects.values()) index.add(entry);
    this.#around.metrics?.eventReceived?.(this.kind, type);
    this.#dispatcher.push(notification);
  }

  #replaced(news: () => Iterable<Notification>): void {
    this.#sorted.reset();
    for (const index of this.#indexObjects.values()) index.reset(this.#entries());
    if (this.#dispatcher.listening) this.#dispatcher.pushAll(news());
    else for (const { old } of news()) if (old) this.#parsed.forget(old);
    if (this.#loadWaiters.size > 0) for (const waiter of this.#loadWaiters) waiter();
  }

  #flushed(): void {
    this.#dispatcher.flush();
    this.#ownWrites.progressed();
  }

  // Reading

  *#entries(): Iterable<Entry> {
    for (const { partition } of this.#parts.values()) yield* partition.entries.values();
  }

  #partOf(key: ObjectKey): Part | undefined {
    return this.#scope?.namespaces === undefined ? this.#parts.get('') : this.#parts.get(key.namespace ?? '');
  }

  #find(key: ObjectKey): Entry | undefined {
    return this.#partOf(key)?.partition.entries.get(keyText(key));
  }

  #findText(text: string): Entry | undefined {
    for (const { partition } of this.#parts.values()) {
      const entry = partition.entries.get(text);
      if (entry) return entry;
    }
    return undefined;
  }

  /** Whether objects with such a key are cached at all. */
  #holds(key: ObjectKey): boolean {
    const { namespaces } = this.#scope ?? resolveScope(this.kind, this.#declared);
    return namespaces === undefined || namespaces.includes(key.namespace ?? '');
  }

  #checkKey(key: ObjectKey): void {
    if (this.#stopped) throw this.#stoppedError();
    const name = kindText(this.kind);
    if (this.kind.scope === 'Namespaced' && !key.namespace) {
      throw new TypeError(`${name} ${key.name}: the key needs a namespace, the kind is namespaced`);
    }
    if (this.kind.scope === 'Cluster' && key.namespace) {
      throw new TypeError(`${name} ${keyText(key)}: the key must have no namespace, the kind is cluster-scoped`);
    }
    if (this.#holds(key)) return;
    throw new CacheError(
      'OutOfScope',
      `${name} is cached only for namespaces ${this.#declared.namespaces?.join(', ')}, not for ${key.namespace}. ` +
        `Add it to the scope's namespaces, or read the object from the API server with client.get.`,
    );
  }

  async #candidates(namespace: string | undefined, index: CacheQuery['index']): Promise<Entry[]> {
    if (index) {
      const found = await this.#query(index.name, index.value);
      return namespace === undefined ? found : found.filter(({ key }) => key.startsWith(`${namespace}/`));
    }
    if (namespace !== undefined) {
      if (!this.#indexObjects.has(namespaceIndex)) {
        const byNamespace = new ObjectIndex(({ key }) => [key.slice(0, key.indexOf('/'))]);
        byNamespace.reset(this.#entries());
        this.#indexObjects.set(namespaceIndex, byNamespace);
      }
      return this.#query(namespaceIndex, namespace);
    }
    const keys = this.#sorted.get(this.#entries());
    const entries: Entry[] = [];
    for (const key of keys) {
      const entry = this.#findText(key);
      if (entry) entries.push(entry);
    }
    return entries;
  }

  async #query(name: string | typeof namespaceIndex, value: string): Promise<Entry[]> {
    const index = this.#indexObjects.get(name)!;
    const slice = new TimeSlice(this.#around.clock);
    while (!index.update(() => slice.isOver)) await this.#nextSlice(slice);
    return Array.from(index.find(value)).toSorted(byKey);
  }

  async #parseAll(
    entries: readonly Entry[],
    selector: LabelSelectorInput | undefined,
  ): Promise<readonly DeepReadonly<KubeObject>[]> {
    const objects: DeepReadonly<KubeObject>[] = [];
    // More objects than are remembered would only push each other out.
    const remember = entries.length <= this.#around.parsedObjects;
    const slice = new TimeSlice(this.#around.clock);
    for (const entry of entries) {
      if (selector === undefined || this.#read(entry, () => matchesLabels(this.#parsed.labels(entry), selector))) {
        objects.push(this.#read(entry, () => (remember ? this.#parsed.keep(entry) : this.#parsed.parse(entry))));
      }
      if (slice.isOver) await this.#nextSlice(slice);
    }
    return objects;
  }

  #nextSlice(slice: TimeSlice): Promise<void> {
    return new Promise((resolve) => {
      this.#around.yieldToLoop(() => {
        slice.renew();
        resolve();
      });
    });
  }

  /** Objects are parsed long after they came. One that turns out not to be JSON is fetched again with all the others. */
  #read<R>(entry: Entry, read: () => R): R {
    try {
      return read();
    } catch (cause) {
      if (!(cause instanceof UndecodableError)) throw cause;
      for (const { partition, reflector } of this.#parts.values()) {
        if (partition.entries.get(entry.key) !== entry) continue;
        partition.distrust(entry);
        reflector.reload();
      }
      throw new CacheError(
        'Undecodable',
        `${kindText(this.kind)} ${entry.key}: the server sent an object that is not JSON; all objects are loaded again`,
        { cause },
      );
    }
  }

  // Indices

  #addIndices(indices: Indices | undefined): void {
    this.#indices = mergeIndices(this.kind, this.#indices, indices);
    for (const [name, compute] of Object.entries(this.#indices)) {
      if (this.#indexObjects.has(name)) continue;
      const index = new ObjectIndex((entry) => this.#indexValues(name, compute, entry));
      index.reset(this.#entries());
      this.#indexObjects.set(name, index);
    }
  }

  #indexValues(name: string, compute: CacheIndex, entry: Entry): readonly string[] {
    try {
      return typeof compute === 'function'
        ? compute(this.#reader.object(entry))
        : compute.fromMeta(this.#reader.meta(entry));
    } catch (error) {
      this.#handlerFailed(error, `index "${name}" for ${entry.key}`);
      return [];
    }
  }

  #unknownIndex(name: string): CacheError {
    const known = Object.keys(this.#indices);
    return new CacheError(
      'UnknownIndex',
      `${kindText(this.kind)} has no index "${name}" (${known.length > 0 ? `it has ${known.join(', ')}` : 'it has none'}). ` +
        `Declare it: cache.informer(${this.kind.kind}, { indices: { ${JSON.stringify(name)}: (object) => [...] } }).`,
    );
  }

  // Own writes

  #isSeen(write: OwnWrite): boolean {
    const part = this.#partOf(parseKey(write.key));
    const entry = part?.partition.entries.get(write.key);
    if (write.version === undefined) return entry === undefined || this.#parsed.uid(entry) !== write.uid;
    return entry?.version === write.version || part?.partition.hasSeen(write.version) === true;
  }

  #handlerFailed(error: unknown, what: string): void {
    this.#handlerErrors += 1;
    this.#around.metrics?.handlerFailed?.(this.kind);
    this.#around.log?.error(`${what} of ${kindText(this.kind)} failed`, { error });
  }

  #stoppedError(): CacheError {
    return new CacheError('Stopped', `${kindText(this.kind)} cannot be read: the cache has been stopped`);
  }
}

/** Failures in a row are one problem, as long as they are of one sort. */
function stateOf(problem: Problem | undefined): 'none' | 'denied' | 'other' {
  if (problem === undefined) return 'none';
  return problem.denied ? 'denied' : 'other';
}

function* present(entries: readonly Entry[]): Iterable<Notification> {
  for (const entry of entries) yield { type: 'added', entry, old: undefined, initial: true, tombstone: false };
}

function byKey(a: Entry, b: Entry): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

function* keysOf(texts: readonly string[]): Iterable<ObjectKey> {
  for (const text of texts) yield parseKey(text);
}
