import type { Kind, ObjectOf } from './kind.ts';
import type { DeepReadonly, KubeObject, ObjectKey, ObjectMeta } from './object.ts';

/**
 * What a process knows of one cluster: objects of the kinds it declared, kept current by watches. Reads cost no request and
 * no copy; what they return must not be changed (`mutable()` gives a copy). A read waits (bounded) until the cache has seen
 * the writes made through the client that belongs to it.
 *
 * Reading a kind nobody declared is an error that says how to declare it.
 */
export interface Cache {
  /** The cached object, or `undefined`. */
  get<K extends Kind>(kind: K, key: ObjectKey): Promise<DeepReadonly<ObjectOf<K>> | undefined>;
  /** Cached objects that match, in key order. */
  list<K extends Kind>(kind: K, query?: CacheQuery): Promise<readonly DeepReadonly<ObjectOf<K>>[]>;
  /** Declares a kind (idempotent for an equal scope) and returns its informer. Starts at once when the cache has started. */
  informer<K extends Kind>(kind: K, scope?: InformerScope<ObjectOf<K>>): Informer<ObjectOf<K>>;
  /** Ends the watch of a declared kind, or of one view of it: its definition is gone, or nobody needs it any more. `informer` declares it anew. */
  forget(kind: Kind, view?: string): void;
  /** Starts all informers. Idempotent. */
  start(): void;
  /** Resolves when every declared kind has been loaded once. */
  synced(signal?: AbortSignal): Promise<void>;
  /** One row per declared kind: loaded or what it waits for. Readiness and error texts come from here. */
  status(): readonly InformerStatus[];
  /** Remembers a write so that later reads of that object wait for it. Called by the client that belongs to the cache. */
  wrote(kind: Kind, key: ObjectKey, outcome: { resourceVersion?: string; uid?: string; deleted?: boolean }): void;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CacheQuery {
  namespace?: string;
  labelSelector?: string | Readonly<Record<string, string>>;
  /** An index declared in the informer's scope. */
  index?: { name: string; value: string };
}

/** Which objects of a kind are cached, and what of them. */
export interface InformerScope<T extends KubeObject = KubeObject> {
  /**
   * Keep these objects apart from the kind's main set, under this name: for a second purpose with a selector of its own. Events
   * come from the returned informer; `get` and `list` read the main set. Default: the main set.
   */
  view?: string;
  /** Default: all namespaces. */
  namespaces?: readonly string[];
  labelSelector?: string | Readonly<Record<string, string>>;
  fieldSelector?: string;
  /**
   * Only `metadata` is fetched and kept: for kinds that are triggers. Default false; true for Secret and ConfigMap unless set,
   * so whoever reads their `data` from the cache says `metadataOnly: false`. Controllers say it for what they are `for` and `read`.
   */
  metadataOnly?: boolean;
  /** Cut `metadata.managedFields` and the last-applied annotation before parsing. Default true. */
  stripManagedFields?: boolean;
  /** Keep only these top-level fields besides apiVersion, kind and metadata. Default: all. */
  fields?: readonly string[];
  /** Named look-ups: each returns the values an object is found under. */
  indices?: Readonly<Record<string, CacheIndex<T>>>;
}

/**
 * How an index finds the values of an object. A function is given the whole object, which is parsed for it; `fromMeta` is
 * given only the metadata, which costs a tenth of that.
 */
export type CacheIndex<T extends KubeObject = KubeObject> =
  | ((object: DeepReadonly<T>) => readonly string[])
  | { fromMeta(meta: DeepReadonly<ObjectMeta>): readonly string[] };

/** Keeps one kind current and tells handlers what changed. */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  /** Calls `handler` for every cached object at once (`initial: true`) and for every change from then on. Returns a function that removes it. */
  onEvent(handler: (event: CacheEvent<T>) => void): () => void;
  /** Whether everything has been loaded once. */
  readonly synced: boolean;
  /** Resolves when everything has been loaded once, however long that takes; rejects when the cache stops or `signal` fires. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  readonly size: number;
  /** Keys of what is cached at this moment, however slowly they are walked through; nothing is parsed for them. */
  keys(): Iterable<ObjectKey>;
}

/** A change of a cached object. `object` and `old` are parsed when first read: a handler that needs only `key` or `meta` costs no parse. */
export interface CacheEvent<T extends KubeObject = KubeObject> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly key: ObjectKey;
  readonly object: DeepReadonly<T>;
  /** The object before an update. */
  readonly old?: DeepReadonly<T>;
  /** Metadata of `object`; of the last known state for a deletion. */
  readonly meta: DeepReadonly<ObjectMeta>;
  /** Metadata of `old`. Like `meta` it is read without parsing the rest of the object. */
  readonly oldMeta?: DeepReadonly<ObjectMeta>;
  /** `metadata.generation` of `object`, 0 when it has none; known without parsing anything. */
  readonly generation?: number;
  /** The same of `old`. */
  readonly oldGeneration?: number;
  /** Part of the first load or of a reload after a lost watch, rather than a fresh change. */
  readonly initial: boolean;
  /** A deletion noticed only by its absence from a reload: `object` is the last known state. */
  readonly tombstone: boolean;
}

export interface InformerStatus {
  readonly kind: Kind;
  readonly synced: boolean;
  readonly objects: number;
  /** Epoch milliseconds of the last event or bookmark. */
  readonly lastActivity?: number;
  /** The last failure, while it lasts, in words that name the kind and what to do. */
  readonly problem?: string;
  /** Whether that failure is a permission or a credential that is missing: what is cached grows old until somebody grants it. */
  readonly denied?: boolean;
  /** Counts for metrics. */
  readonly counts?: InformerCounts;
}

/** What an informer has done since it was declared. */
export interface InformerCounts {
  /** Objects and changes received. */
  readonly events: number;
  /** Those that were held already and cost nothing more. */
  readonly unchanged: number;
  /** Objects parsed; all others received were never looked into. */
  readonly parses: number;
  /** Exceptions thrown by handlers and index functions. */
  readonly handlerErrors: number;
  /** Reads that gave up waiting for a write of this process. */
  readonly ownWriteTimeouts: number;
  /** Watches started again, by reason. */
  readonly restarts: Readonly<Record<string, number>>;
}
