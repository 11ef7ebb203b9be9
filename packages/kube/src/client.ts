import type { Kind, ObjectOf } from './kind.ts';
import type { Known, KnownPart } from './kinds/builtin-objects.ts';
import type { Mutable } from './mutable.ts';
import type { DeepReadonly, KubeObject, ObjectKey } from './object.ts';

/**
 * Reads and writes objects on one cluster, straight at the API server. Made by `createClient`; inside a reconciler use the
 * one in the context, whose writes the cache knows about (a cached read after a write sees it).
 *
 * All methods take an `AbortSignal` in their options and reject with a `KubeError` when the server says no.
 */
export interface Client {
  /** The object, or `undefined` when there is none. A kind the server does not know is an error, not `undefined`. */
  get<K extends Kind>(kind: K, key: ObjectKey, options?: ReadOptions): Promise<ObjectOf<K> | undefined>;
  /** All objects that match, page by page; never holds more than one page in memory. */
  list<K extends Kind>(kind: K, options?: ListOptions): AsyncIterable<ObjectOf<K>>;
  /** One page (or, without `limit`, the whole list) with the list's resource version. */
  listPage<K extends Kind>(kind: K, options?: ListOptions & { continue?: string }): Promise<ListPage<ObjectOf<K>>>;
  /** Events from `resourceVersion` on. Ends when the server closes the stream; reconnecting is the cache's business. */
  watch<K extends Kind>(kind: K, options?: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<K>>>;
  create<T extends KubeObject, A extends string = string, K extends string = string>(
    object: T & Known<T, A, K>,
    options?: WriteOptions,
  ): Promise<T>;
  /** PUT. With `metadata.resourceVersion` in the object a stale copy is refused (`isConflict`). */
  update<T extends KubeObject, A extends string = string, K extends string = string>(
    object: T & Known<T, A, K>,
    options?: WriteOptions & SubresourceOption,
  ): Promise<T>;
  patch<K extends Kind>(
    kind: K,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions & SubresourceOption,
  ): Promise<ObjectOf<K>>;
  /** Server-side apply: creates or changes exactly the fields in `object`. Default field manager: the client's; default force: true. */
  apply<T extends KubeObject, A extends string = string, K extends string = string>(
    object: T & KnownPart<T, A, K>,
    options?: ApplyOptions,
  ): Promise<T>;
  /**
   * Writes `status` fields of an object that was read before: given top-level fields replace the stored ones, `conditions`
   * are merged by type and keep `lastTransitionTime` while their status stays, `observedGeneration` is set when the kind
   * has it (known for kinds with a schema that the cache watches or this client has read). Writes nothing when nothing would change. Refuses (`isConflict`) when the object has changed since it was read.
   */
  setStatus<T extends DeepReadonly<KubeObject>>(
    object: T,
    status: StatusFields<T>,
    options?: StatusOptions,
  ): Promise<Mutable<T>>;
  /** Accepted deletion, or `undefined` when there was nothing to delete. */
  delete(kind: Kind, key: ObjectKey, options?: DeleteOptions): Promise<DeleteResult | undefined>;
  deleteCollection(kind: Kind, options?: ListOptions & DeleteOptions): Promise<void>;
  /** Adds a finalizer with a patch that cannot drop somebody else's. Returns the object as it is afterwards. */
  addFinalizer<T extends DeepReadonly<KubeObject>>(
    object: T,
    finalizer: string,
    options?: CallOptions,
  ): Promise<Mutable<T>>;
  /** Removes a finalizer likewise. An object that is gone already is fine. */
  removeFinalizer(object: DeepReadonly<KubeObject>, finalizer: string, options?: CallOptions): Promise<void>;
  /** Which resource serves an object's `apiVersion` and `kind`; asks discovery and heals when a CRD appears. */
  resolve(apiVersion: string, kind: string, options?: CallOptions): Promise<Kind>;
  /** Which resource serves a group and kind, in the server's preferred version. */
  resolveGroupKind(group: string, kind: string, options?: CallOptions): Promise<Kind>;
  /** What the server serves. */
  discover(options?: CallOptions & { fresh?: boolean }): Promise<readonly DiscoveredResource[]>;
  serverVersion(options?: CallOptions): Promise<{ major: string; minor: string; gitVersion: string }>;
  /** Whether the present user may do a thing (`SelfSubjectAccessReview`). */
  canI(access: AccessQuery, options?: CallOptions): Promise<{ allowed: boolean; reason: string }>;
  /** The same cluster as somebody else, such as `system:serviceaccount:shop:deployer`. The server decides whether the present user may. */
  actingAs(user: string): Client;
  /** Any request, for what has no method here. The answer is parsed JSON. */
  request(request: RawRequest, options?: CallOptions): Promise<unknown>;
}

export interface CallOptions {
  signal?: AbortSignal;
  /**
   * Called each time a request that is no read is about to leave, after every wait for its turn; what it throws ends the call
   * before anything was sent. A leader asks here whether it still leads.
   */
  beforeSend?: () => void;
}

export interface ReadOptions extends CallOptions {
  subresource?: string;
  resourceVersion?: string;
}

export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  namespace?: string;
  /** A selector as text (`app=web,tier in (a,b)`) or as plain equality pairs. */
  labelSelector?: string | Readonly<Record<string, string>>;
  fieldSelector?: string;
  /** Objects per page. Default 500; 0 asks for everything at once. */
  limit?: number;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface ListPage<T> {
  items: T[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export interface WatchOptions extends ListOptions {
  sendInitialEvents?: boolean;
  /** Default true. */
  allowBookmarks?: boolean;
  timeoutSeconds?: number;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; object: KubeObject };

export interface WriteOptions extends CallOptions {
  /** Who writes, at most 128 characters. Default: the client's field manager. */
  fieldManager?: string;
  /** Runs the whole pipeline on the server and stores nothing. Default false. */
  dryRun?: boolean;
  /** What the server does about fields it does not know. Default: the server's (Warn). */
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

export interface SubresourceOption {
  subresource?: string;
}

export interface ApplyOptions extends WriteOptions, SubresourceOption {
  /** Take fields over from other managers instead of failing with a conflict. Default true. */
  force?: boolean;
  /** Becomes the controller owner of the object. */
  owner?: DeepReadonly<KubeObject>;
}

export interface StatusOptions extends CallOptions {
  /** Refuse when the object has changed since it was read (`resourceVersion`, default) or only when it was replaced (`uid`). */
  precondition?: 'resourceVersion' | 'uid';
  fieldManager?: string;
}

/** Top-level fields of an object's status, all optional; anything for an object whose type does not know its status. */
export type StatusFields<T> = T extends { readonly status?: infer S }
  ? unknown extends S
    ? Readonly<Record<string, unknown>>
    : Partial<NonNullable<S>>
  : Readonly<Record<string, unknown>>;

export interface DeleteOptions extends CallOptions {
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

/** `gone`: nothing is left; `terminating`: finalizers or grace keep the object for now. */
export interface DeleteResult {
  state: 'gone' | 'terminating';
  uid?: string;
}

export type Patch =
  | { type: 'json'; operations: readonly JsonPatchOperation[] }
  | { type: 'merge'; body: Readonly<Record<string, unknown>> }
  | { type: 'strategic'; body: Readonly<Record<string, unknown>> }
  | { type: 'apply'; body: Readonly<Record<string, unknown>>; force?: boolean };

export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string };

export interface DiscoveredResource {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  scope: 'Namespaced' | 'Cluster';
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: readonly string[];
  /** Whether `version` is the one the server prefers for this group. */
  preferred: boolean;
}

export interface AccessQuery {
  verb: string;
  group?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  /** For non-resource URLs instead of a resource. */
  path?: string;
}

export interface RawRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  contentType?: string;
  accept?: string;
}
