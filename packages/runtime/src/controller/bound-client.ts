import {
  type AccessQuery,
  type ApplyOptions,
  type CallOptions,
  type Client,
  type Clock,
  type DeepReadonly,
  type DeleteOptions,
  type DeleteResult,
  type DiscoveredResource,
  type Kind,
  type KubeObject,
  type ListOptions,
  type ListPage,
  type Mutable,
  type ObjectKey,
  type ObjectOf,
  type Patch,
  type RawRequest,
  type ReadOptions,
  type StatusFields,
  type StatusOptions,
  type SubresourceOption,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '@slipway/kube';
import { type Context, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';

export interface Binding {
  /** Ends every request made through the client. */
  signal: AbortSignal;
  tracer: Tracer;
  /** What the spans of the requests belong to. */
  parent: Context;
  clock: Clock;
  /** Throws when nothing may be written; asked at the moment of sending. */
  beforeWrite?: (() => void) | undefined;
}

/** A client for one reconciliation: its requests end with it and are spans of its trace. */
export class BoundClient implements Client {
  readonly #client: Client;
  readonly #binding: Binding;

  constructor(client: Client, binding: Binding) {
    this.#client = client;
    this.#binding = binding;
  }

  get<K extends Kind>(kind: K, key: ObjectKey, options?: ReadOptions): Promise<ObjectOf<K> | undefined> {
    return this.#traced('get', kind.kind, () => this.#client.get(kind, key, this.#with(options)));
  }

  list<K extends Kind>(kind: K, options?: ListOptions): AsyncIterable<ObjectOf<K>> {
    return this.#client.list(kind, this.#with(options));
  }

  listPage<K extends Kind>(kind: K, options?: ListOptions & { continue?: string }): Promise<ListPage<ObjectOf<K>>> {
    return this.#traced('list', kind.kind, () => this.#client.listPage(kind, this.#with(options)));
  }

  watch<K extends Kind>(kind: K, options?: WatchOptions): AsyncIterable<WatchEvent<ObjectOf<K>>> {
    return this.#client.watch(kind, this.#with(options));
  }

  create<T extends KubeObject>(object: T, options?: WriteOptions): Promise<T> {
    return this.#traced('create', object.kind, () => this.#client.create(object, this.#toWrite(options)));
  }

  update<T extends KubeObject>(object: T, options?: WriteOptions & SubresourceOption): Promise<T> {
    return this.#traced('update', object.kind, () => this.#client.update(object, this.#toWrite(options)));
  }

  patch<K extends Kind>(
    kind: K,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions & SubresourceOption,
  ): Promise<ObjectOf<K>> {
    return this.#traced('patch', kind.kind, () => this.#client.patch(kind, key, patch, this.#toWrite(options)));
  }

  apply<T extends KubeObject>(object: T, options?: ApplyOptions): Promise<T> {
    return this.#traced('apply', object.kind, () => this.#client.apply(object, this.#toWrite(options)));
  }

  setStatus<T extends DeepReadonly<KubeObject>>(
    object: T,
    status: StatusFields<T>,
    options?: StatusOptions,
  ): Promise<Mutable<T>> {
    return this.#traced('setStatus', object.kind, () => this.#client.setStatus(object, status, this.#toWrite(options)));
  }

  delete(kind: Kind, key: ObjectKey, options?: DeleteOptions): Promise<DeleteResult | undefined> {
    return this.#traced('delete', kind.kind, () => this.#client.delete(kind, key, this.#toWrite(options)));
  }

  deleteCollection(kind: Kind, options?: ListOptions & DeleteOptions): Promise<void> {
    return this.#traced('deleteCollection', kind.kind, () =>
      this.#client.deleteCollection(kind, this.#toWrite(options)),
    );
  }

  addFinalizer<T extends DeepReadonly<KubeObject>>(
    object: T,
    finalizer: string,
    options?: CallOptions,
  ): Promise<Mutable<T>> {
    return this.#traced('addFinalizer', object.kind, () =>
      this.#client.addFinalizer(object, finalizer, this.#toWrite(options)),
    );
  }

  removeFinalizer(object: DeepReadonly<KubeObject>, finalizer: string, options?: CallOptions): Promise<void> {
    return this.#traced('removeFinalizer', object.kind, () =>
      this.#client.removeFinalizer(object, finalizer, this.#toWrite(options)),
    );
  }

  resolve(apiVersion: string, kind: string, options?: CallOptions): Promise<Kind> {
    return this.#client.resolve(apiVersion, kind, this.#with(options));
  }

  resolveGroupKind(group: string, kind: string, options?: CallOptions): Promise<Kind> {
    return this.#client.resolveGroupKind(group, kind, this.#with(options));
  }

  discover(options?: CallOptions & { fresh?: boolean }): Promise<readonly DiscoveredResource[]> {
    return this.#client.discover(this.#with(options));
  }

  serverVersion(options?: CallOptions): Promise<{ major: string; minor: string; gitVersion: string }> {
    return this.#client.serverVersion(this.#with(options));
  }

  canI(access: AccessQuery, options?: CallOptions): Promise<{ allowed: boolean; reason: string }> {
    return this.#client.canI(access, this.#with(options));
  }

  actingAs(user: string): Client {
    return new BoundClient(this.#client.actingAs(user), this.#binding);
  }

  request(request: RawRequest, options?: CallOptions): Promise<unknown> {
    const bound = request.method === 'GET' ? this.#with(options) : this.#toWrite(options);
    return this.#traced(request.method, '', () => this.#client.request(request, bound));
  }

  #with<O extends CallOptions>(options: O | undefined): O {
    const { signal } = this.#binding;
    const given = options?.signal;
    return { ...options, signal: given ? AbortSignal.any([given, signal]) : signal } as O;
  }

  #toWrite<O extends CallOptions>(options: O | undefined): O {
    const { beforeWrite } = this.#binding;
    const bound = this.#with(options);
    if (!beforeWrite) return bound;
    const given = options?.beforeSend;
    const beforeSend = (): void => {
      beforeWrite();
      given?.();
    };
    return { ...bound, beforeSend };
  }

  async #traced<T>(verb: string, kind: string, call: () => Promise<T>): Promise<T> {
    const { tracer, parent, clock } = this.#binding;
    const span = tracer.startSpan(
      kind ? `${verb} ${kind}` : verb,
      { kind: SpanKind.CLIENT, startTime: clock.now(), attributes: { 'k8s.verb': verb, 'k8s.kind': kind } },
      parent,
    );
    try {
      return await call();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end(clock.now());
    }
  }
}
