import type { Cache } from '../cache.ts';
import type {
  AccessQuery,
  ApplyOptions,
  CallOptions,
  Client,
  DeleteOptions,
  DeleteResult,
  DiscoveredResource,
  JsonPatchOperation,
  ListOptions,
  ListPage,
  Patch,
  RawRequest,
  ReadOptions,
  StatusFields,
  StatusOptions,
  SubresourceOption,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../client.ts';
import { sleep, systemClock, type Clock } from '../clock.ts';
import { addFinalizerPatch, removeFinalizerPatch } from '../finalizers.ts';
import { InputError } from '../input-error.ts';
import { kindText, type Kind, type ObjectOf } from '../kind.ts';
import { coreKinds } from '../kinds/core-kinds.ts';
import { isConflict, isGone, isInvalid, isNotFound, isUnknownKind, KubeError } from '../kube-error.ts';
import { mutable, type Mutable } from '../mutable.ts';
import { keyOf, keyText, type DeepReadonly, type KubeObject, type ObjectKey } from '../object.ts';
import { withController } from '../owner-references.ts';
import { systemRandom, type Random } from '../random.ts';
import { formatLabelSelector } from '../selectors.ts';
import type { Transport } from '../transport.ts';
import { actingTransport } from '../transport/impersonation.ts';
import { Discovery } from './discovery.ts';
import { KnownKinds } from './known-kinds.ts';
import { statusPatch, statusShape } from './merge-status.ts';
import { Requester, type ClientInstrument, type Verb } from './requester.ts';
import { PageTokens } from '../page-tokens.ts';
import { collectionPath, objectPath, withQuery, type QueryValue } from '../resource-path.ts';
import { listAnswer, objectAnswer, recordAnswer } from './answers.ts';
import { watchEvents } from './watch-stream.ts';

export interface ClientOptions {
  transport: Transport;
  /** Who writes: the default field manager, at most 128 characters. */
  fieldManager: string;
  /** Default {@link systemClock}. */
  clock?: Clock;
  /** Default {@link systemRandom}. */
  random?: Random;
  /** Sent as `user-agent`. Default: the transport's. */
  userAgent?: string;
  /** Receives the server's `Warning` headers (deprecated versions, unknown fields). Default: they are dropped. */
  warn?: (warning: string, operation: string) => void;
  /** The cache that reads what this client writes; it is told of every write. */
  cache?: Pick<Cache, 'wrote' | 'status'>;
  /** Kinds the client need not ask discovery for, besides the built-in ones and those it is called with. */
  kinds?: readonly Kind[];
  instrument?: ClientInstrument;
  /** How long one call may wait, in all, for a server that says 429 or 503 with Retry-After; in milliseconds. Default 60 000. */
  maxRetryWaitMs?: number;
  /** How often a kind the server did not know may be asked for again, in milliseconds. Default 1 000. */
  discoveryIntervalMs?: number;
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** A client on top of a transport. */
export function createClient(options: ClientOptions): Client {
  return new TransportClient(options);
}

class TransportClient implements Client {
  readonly #transport: Transport;
  readonly #fieldManager: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #userAgent: string | undefined;
  readonly #cache: Pick<Cache, 'wrote' | 'status'> | undefined;
  readonly #requester: Requester;
  readonly #discovery: Discovery;
  readonly #kinds: KnownKinds;
  readonly #options: ClientOptions;
  readonly #others = new Map<string, TransportClient>();

  /** @param discovery of a client of the same cluster: what is served does not depend on who asks */
  constructor(options: ClientOptions, discovery?: Discovery) {
    this.#options = options;
    if (!options.fieldManager || options.fieldManager.length > 128)
      throw new TypeError('fieldManager must be 1 to 128 characters long');
    this.#transport = options.transport;
    this.#fieldManager = options.fieldManager;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#userAgent = options.userAgent;
    this.#cache = options.cache;
    this.#requester = new Requester({
      transport: options.transport,
      clock: this.#clock,
      userAgent: options.userAgent,
      warn: options.warn,
      instrument: options.instrument,
      maxRetryWaitMs: options.maxRetryWaitMs ?? 60_000,
    });
    this.#discovery =
      discovery ??
      new Discovery(
        (path, accept, signal) =>
          this.#requester.json({ verb: 'get', operation: `discover ${path}`, method: 'GET', path, accept }, { signal }),
        this.#clock,
        options.discoveryIntervalMs ?? 1_000,
      );
    this.#kinds = new KnownKinds([...coreKinds, ...(options.kinds ?? [])], this.#discovery, options.cache);
  }

  async get<K extends Kind>(kind: K, key: ObjectKey, options: ReadOptions = {}): Promise<ObjectOf<K> | undefined> {
    this.#kinds.learn(kind);
    try {
      const answer = await this.#call<ObjectOf<K>>(
        'get',
        kind,
        key,
        {
          method: 'GET',
          path: withQuery(objectPath(kind, key, options.subresource), { resourceVersion: options.resourceVersion }),
        },
        options,
      );
      if (!options.subresource) objectAnswer(answer, `get ${kindText(kind)}`, 'with metadata');
      return answer;
    } catch (error) {
      if (isNotFound(error) && !isUnknownKind(error)) return undefined;
      throw error;
    }
  }

  async *list<K extends Kind>(kind: K, options: ListOptions = {}): AsyncGenerator<ObjectOf<K>, void, undefined> {
    const limit = options.limit ?? 500;
    let page = await this.listPage(kind, { ...options, limit });
    let last = '';
    const pages = new PageTokens(`list ${kindText(kind)}`);
    for (;;) {
      for (const item of page.items) yield item;
      const final = page.items.at(-1);
      if (final) last = keyText(keyOf(final));
      if (!page.continue) return;
      pages.next(page.continue, page.items.length);
      // A continue token stands for the first page's version; sending one beside it is refused.
      const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options;
      try {
        page = await this.listPage(kind, { ...rest, limit, continue: page.continue });
      } catch (error) {
        if (!isGone(error)) throw error;
        page = await this.#resumeExpired(kind, { ...rest, limit }, error as KubeError, last);
      }
    }
  }

  /** The snapshot of a long list has expired: go on in a newer one, after the last object that was handed out. */
  async #resumeExpired<K extends Kind>(
    kind: K,
    options: ListOptions,
    expired: KubeError,
    last: string,
  ): Promise<ListPage<ObjectOf<K>>> {
    const token = expired.status?.metadata?.continue;
    if (token) return this.listPage(kind, { ...options, continue: token });
    const whole = await this.listPage(kind, { ...options, limit: 0 });
    return { ...whole, items: whole.items.filter((item) => keyText(keyOf(item)) > last) };
  }

  async listPage<K extends Kind>(
    kind: K,
    options: ListOptions & { continue?: string } = {},
  ): Promise<ListPage<ObjectOf<K>>> {
    this.#kinds.learn(kind);
    const path = withQuery(collectionPath(kind, options.namespace), {
      ...listQuery(options),
      limit: options.limit || undefined,
      continue: options.continue,
    });
    const list = await this.#call<{ metadata?: unknown; items?: unknown }>(
      'list',
      kind,
      { namespace: options.namespace, name: '' },
      { method: 'GET', path },
      options,
    );
    const { metadata, items } = listAnswer(list, `list ${kindText(kind)}`);
    // The server leaves these two out of the items of built-in kinds.
    for (const item of items) {
      item.apiVersion ??= kind.apiVersion;
      item.kind ??= kind.kind;
    }
    const { resourceVersion = '', continue: token, remainingItemCount } = metadata;
    return {
      items: items as ObjectOf<K>[],
      resourceVersion,
      ...(token ? { continue: token } : {}),
      ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
    };
  }

  watch<K extends Kind>(kind: K, options: WatchOptions = {}): AsyncIterable<WatchEvent<ObjectOf<K>>> {
    this.#kinds.learn(kind);
    const path = withQuery(collectionPath(kind, options.namespace), {
      watch: 1,
      ...listQuery(options),
      ...(options.sendInitialEvents === undefined
        ? {}
        : { sendInitialEvents: options.sendInitialEvents, resourceVersionMatch: 'NotOlderThan' }),
      allowWatchBookmarks: options.allowBookmarks ?? true,
      timeoutSeconds: options.timeoutSeconds,
    });
    const headers: Record<string, string> = { accept: 'application/json' };
    if (this.#userAgent) headers['user-agent'] = this.#userAgent;
    return watchEvents<KubeObject>(
      this.#transport,
      { method: 'GET', path, headers },
      `watch ${kindText(kind)}`,
      options.signal,
    ) as AsyncIterable<WatchEvent<ObjectOf<K>>>;
  }

  async create<T extends KubeObject>(object: T, options: WriteOptions = {}): Promise<T> {
    const kind = await this.#kinds.ofObject(object, options.signal);
    const { namespace, name = '' } = object.metadata;
    if (kind.scope === 'Namespaced' && !namespace)
      throw new InputError('Object', `create ${kindText(kind)} ${name}: metadata.namespace is missing`);
    const path = withQuery(collectionPath(kind, namespace), this.#writeQuery(options));
    return this.#write<T>('create', kind, { namespace, name }, { method: 'POST', path, body: object }, options);
  }

  async update<T extends KubeObject>(object: T, options: WriteOptions & SubresourceOption = {}): Promise<T> {
    const kind = await this.#kinds.ofObject(object, options.signal);
    const key = keyOf(object);
    const path = withQuery(objectPath(kind, key, options.subresource), this.#writeQuery(options));
    return this.#write<T>('update', kind, key, { method: 'PUT', path, body: object }, options);
  }

  async patch<K extends Kind>(
    kind: K,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions & SubresourceOption = {},
  ): Promise<ObjectOf<K>> {
    this.#kinds.learn(kind);
    const query: Record<string, QueryValue> = this.#writeQuery(options);
    if (patch.type === 'apply') query['force'] = patch.force ?? true;
    return this.#write<ObjectOf<K>>(
      patch.type === 'apply' ? 'apply' : 'patch',
      kind,
      key,
      {
        method: 'PATCH',
        path: withQuery(objectPath(kind, key, options.subresource), query),
        body: patch.type === 'json' ? patch.operations : patch.body,
        contentType: patchTypes[patch.type],
      },
      options,
    );
  }

  async apply<T extends KubeObject>(object: T, options: ApplyOptions = {}): Promise<T> {
    const kind = await this.#kinds.ofObject(object, options.signal);
    const body = options.owner ? withController(object, options.owner) : object;
    return (await this.patch(kind, keyOf(object), { type: 'apply', body, force: options.force ?? true }, options)) as T;
  }

  async setStatus<T extends DeepReadonly<KubeObject>>(
    source: T,
    status: StatusFields<T>,
    options: StatusOptions = {},
  ): Promise<Mutable<T>> {
    const kind = await this.#kinds.ofObject(source, options.signal);
    const patch = statusPatch(
      source,
      status as Record<string, unknown>,
      statusShape(this.#kinds.find(source) ?? kind, source),
      this.#clock.now(),
    );
    if (patch === undefined) return mutable(source);
    const { uid, resourceVersion } = source.metadata;
    const precondition = options.precondition ?? 'resourceVersion';
    if (precondition === 'resourceVersion' && !resourceVersion)
      throw new TypeError(
        `${kindText(kind)} ${keyText(keyOf(source))}: setStatus needs an object read from the server`,
      );
    const metadata = precondition === 'resourceVersion' ? { uid, resourceVersion } : { uid };
    return (await this.patch(
      kind,
      keyOf(source),
      { type: 'merge', body: { metadata, status: patch } },
      { ...options, subresource: 'status' },
    )) as unknown as Mutable<T>;
  }

  async delete(kind: Kind, key: ObjectKey, options: DeleteOptions = {}): Promise<DeleteResult | undefined> {
    this.#kinds.learn(kind);
    let answer: KubeObject & { status?: unknown; details?: { uid?: string } };
    try {
      answer = await this.#call(
        'delete',
        kind,
        key,
        { method: 'DELETE', path: objectPath(kind, key), body: deleteBody(options) },
        options,
      );
    } catch (error) {
      if (isNotFound(error) && !isUnknownKind(error)) {
        if (!options.dryRun) this.#cache?.wrote(kind, key, { uid: options.preconditions?.uid, deleted: true });
        return undefined;
      }
      throw error;
    }
    const { metadata } = objectAnswer(answer, `delete ${kindText(kind)}`);
    const isStatus = answer.kind === 'Status' || metadata === undefined;
    const gone = isStatus || !lingers(answer);
    const uid = isStatus ? answer.details?.uid : metadata.uid;
    if (!options.dryRun) {
      if (gone) this.#cache?.wrote(kind, key, { uid, deleted: true });
      else this.#cache?.wrote(kind, key, { uid, resourceVersion: answer.metadata.resourceVersion });
    }
    return { state: gone ? 'gone' : 'terminating', ...(uid ? { uid } : {}) };
  }

  async deleteCollection(kind: Kind, options: ListOptions & DeleteOptions = {}): Promise<void> {
    this.#kinds.learn(kind);
    const path = withQuery(collectionPath(kind, options.namespace), {
      ...listQuery(options),
      limit: options.limit || undefined,
    });
    await this.#call(
      'deletecollection',
      kind,
      { namespace: options.namespace, name: '' },
      { method: 'DELETE', path, body: deleteBody(options) },
      options,
    );
  }

  async addFinalizer<T extends DeepReadonly<KubeObject>>(
    source: T,
    finalizer: string,
    options: CallOptions = {},
  ): Promise<Mutable<T>> {
    const done = await this.#patchFinalizers(source, (current) => addFinalizerPatch(current, finalizer), options);
    if (done) return done as unknown as Mutable<T>;
    const kind = await this.#kinds.ofObject(source);
    throw new KubeError(`${kindText(kind)} ${keyText(keyOf(source))} is gone: no finalizer can be added`, {
      code: 404,
      reason: 'NotFound',
    });
  }

  async removeFinalizer(object: DeepReadonly<KubeObject>, finalizer: string, options: CallOptions = {}): Promise<void> {
    await this.#patchFinalizers(object, (current) => removeFinalizerPatch(current, finalizer), options);
  }

  /** Patches until it holds; `undefined` when the object (this incarnation of it) is gone. */
  async #patchFinalizers(
    object: DeepReadonly<KubeObject>,
    patchFor: (current: DeepReadonly<KubeObject>) => JsonPatchOperation[] | undefined,
    options: CallOptions,
  ): Promise<KubeObject | undefined> {
    const kind = await this.#kinds.ofObject(object, options.signal);
    const key = keyOf(object);
    let current = object;
    for (let attempt = 0; ; attempt += 1) {
      const operations = patchFor(current);
      if (!operations) return mutable(current) as KubeObject;
      try {
        return await this.patch(kind, key, { type: 'json', operations }, options);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        // A failed `test` is answered with 422, like an object that breaks a rule: only a second look tells them apart.
        if (attempt >= 5 || !(isInvalid(error) || isConflict(error))) throw error;
        const latest = await this.get(kind, key, options);
        if (!latest || latest.metadata.uid !== object.metadata.uid) return undefined;
        if (latest.metadata.resourceVersion === current.metadata.resourceVersion) throw error;
        current = latest;
        if (attempt > 0)
          await sleep(this.#clock, this.#random.next() * 50 * 2 ** attempt, options.signal, { holds: true });
      }
    }
  }

  async resolve(apiVersion: string, kind: string, options: CallOptions = {}): Promise<Kind> {
    return await this.#kinds.resolve(apiVersion, kind, options.signal);
  }

  async resolveGroupKind(group: string, kind: string, options: CallOptions = {}): Promise<Kind> {
    return await this.#kinds.resolveGroupKind(group, kind, options.signal);
  }

  discover(options: CallOptions & { fresh?: boolean } = {}): Promise<readonly DiscoveredResource[]> {
    return this.#discovery.all(options);
  }

  async serverVersion(options: CallOptions = {}): Promise<{ major: string; minor: string; gitVersion: string }> {
    return (await this.#requestRecord({ method: 'GET', path: '/version' }, options)) as {
      major: string;
      minor: string;
      gitVersion: string;
    };
  }

  async canI(access: AccessQuery, options: CallOptions = {}): Promise<{ allowed: boolean; reason: string }> {
    const { path, verb, ...resource } = access;
    const spec = path
      ? { nonResourceAttributes: { path, verb } }
      : { resourceAttributes: { ...resource, verb, group: resource.group ?? '' } };
    const review = (await this.#requestRecord(
      {
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec },
      },
      options,
    )) as { status?: { allowed?: boolean; reason?: string; evaluationError?: string } };
    const { allowed = false, reason, evaluationError } = review.status ?? {};
    return { allowed, reason: reason || evaluationError || '' };
  }

  actingAs(user: string): Client {
    const known = this.#others.get(user);
    if (known) return known;
    const transport = actingTransport(this.#transport, user);
    const other = new TransportClient({ ...this.#options, transport }, this.#discovery);
    this.#others.set(user, other);
    return other;
  }

  request(request: RawRequest, options: CallOptions = {}): Promise<unknown> {
    return this.#requester.json(
      {
        verb: 'raw',
        operation: `${request.method} ${request.path}`,
        method: request.method,
        path: withQuery(request.path, request.query ?? {}),
        body: request.body,
        contentType: request.contentType,
        accept: request.accept,
        textAllowed: true,
      },
      options,
    );
  }

  async #requestRecord(request: RawRequest, options: CallOptions): Promise<unknown> {
    const operation = `${request.method} ${request.path}`;
    return recordAnswer(await this.request(request, options), operation);
  }

  async #write<T extends KubeObject>(
    verb: Verb,
    kind: Kind,
    key: { namespace?: string; name: string },
    request: { method: 'POST' | 'PUT' | 'PATCH'; path: string; body: unknown; contentType?: string },
    options: WriteOptions & SubresourceOption,
  ): Promise<T> {
    const result = await this.#call<T>(verb, kind, key, request, options);
    const stored = objectAnswer(result, `${verb} ${kindText(kind)}`).metadata;
    // Answers of subresources such as `eviction` or `token` are not the object.
    if (!options.dryRun && this.#cache && stored?.name && (result.kind === kind.kind || !result.kind)) {
      const { uid, resourceVersion } = stored;
      const deleted = stored.deletionTimestamp !== undefined && !lingers(result);
      this.#cache.wrote(kind, keyOf(result), deleted ? { uid, deleted } : { uid, resourceVersion });
    }
    return result;
  }

  async #call<T>(
    verb: Verb,
    kind: Kind,
    key: { namespace?: string; name: string },
    request: {
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      path: string;
      body?: unknown;
      contentType?: string;
    },
    options: CallOptions,
  ): Promise<T> {
    const where = keyText({ ...(key.namespace ? { namespace: key.namespace } : {}), name: key.name });
    try {
      const operation = `${verb} ${kindText(kind)} ${where}`.trimEnd();
      const answer = await this.#requester.json({ verb, kind, key, operation, ...request }, options);
      return recordAnswer(answer, operation) as T;
    } catch (error) {
      if (isUnknownKind(error)) this.#kinds.forget(kind);
      throw error;
    }
  }

  #writeQuery(options: WriteOptions): Record<string, QueryValue> {
    return {
      fieldManager: options.fieldManager ?? this.#fieldManager,
      dryRun: options.dryRun ? 'All' : undefined,
      fieldValidation: options.fieldValidation,
    };
  }
}

function listQuery(options: ListOptions): Record<string, QueryValue> {
  return {
    labelSelector:
      options.labelSelector === undefined ? undefined : formatLabelSelector(options.labelSelector) || undefined,
    fieldSelector: options.fieldSelector || undefined,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  };
}

function deleteBody(options: DeleteOptions): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: options.propagationPolicy,
    gracePeriodSeconds: options.gracePeriodSeconds,
    preconditions: options.preconditions,
    dryRun: options.dryRun ? ['All'] : undefined,
  };
}

/** Whether an object that is being deleted will still be there after this answer. */
function lingers(object: DeepReadonly<KubeObject>): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined) return false;
  const spec = object['spec'] as { finalizers?: unknown[] } | undefined;
  // Namespaces keep their finalizers in their spec.
  const held = (finalizers?.length ?? 0) > 0 || (object.kind === 'Namespace' && (spec?.finalizers?.length ?? 0) > 0);
  return held || (deletionGracePeriodSeconds ?? 0) > 0;
}
