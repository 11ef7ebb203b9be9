import { parseExactly } from './big-integer.ts';
import { ApiError, type StatusBody } from './api-error.ts';
import type { UserInfo } from './auth/auth.ts';
import type { ApiObject, Json } from './object.ts';
import type { ApiRequest, ApiServer } from './server.ts';

/** A collection: one resource, in one namespace or in all. */
export interface CollectionAddress {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Absent for cluster-scoped resources and for "all namespaces". */
  readonly namespace?: string;
}

/** One object, or a subresource of it. */
export interface ObjectAddress extends CollectionAddress {
  readonly name: string;
  readonly subresource?: string;
}

export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ObjectList {
  readonly resourceVersion: string;
  readonly items: readonly ApiObject[];
}

export interface WatchRequest extends Selection {
  /** Events after this version. */
  readonly resourceVersion: string;
}

export interface WatchHandler {
  /** Called in revision order. The object belongs to the server: never change it. */
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ApiObject): void;
  /** Called once when the server ends the watch (not after `close()`); list again and go on. */
  closed(reason?: StatusBody): void;
}

export interface DeleteRequest {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export type PatchType = 'json' | 'merge' | 'strategic';

/** What a controller must know of a served resource. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly storageId: string;
  readonly custom: boolean;
}

/**
 * The API as the controllers inside this package see it: the same pipeline as for every other client, without bytes and
 * sockets. Failures are thrown as `ApiError`. Objects handed out are shared and must not be changed in place.
 */
export interface LocalClient {
  get(address: ObjectAddress): Promise<ApiObject>;
  list(address: CollectionAddress, selection?: Selection): Promise<ObjectList>;
  /** `address` may name a subresource to create, such as `pods/x/binding`. */
  create(address: CollectionAddress | ObjectAddress, object: ApiObject): Promise<ApiObject>;
  update(address: ObjectAddress, object: ApiObject): Promise<ApiObject>;
  patch(address: ObjectAddress, type: PatchType, patch: Json): Promise<ApiObject>;
  /** The object, or a Status when it is gone. */
  delete(address: ObjectAddress, request?: DeleteRequest): Promise<ApiObject | StatusBody>;
  watch(address: CollectionAddress, request: WatchRequest, handler: WatchHandler): { close(): void };
  /** All served resources, every version. */
  resources(): readonly ServedResource[];
  /** Called after a CRD added or removed resources; returns how to stop listening. */
  onResourcesChanged(listener: () => void): () => void;
}

export interface LocalClientOptions {
  readonly user: UserInfo;
  /** Names the field manager of writes, as with any client. Default `kube-controller-manager`. */
  readonly userAgent?: string;
}

const patchContentTypes: Record<PatchType, string> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** A {@link LocalClient}: every call is an ordinary request through `ApiServer.handle`, with authorization, admission, faults and all. */
export function localClient(server: ApiServer, options: LocalClientOptions): LocalClient {
  const { user } = options;
  const headers = { 'user-agent': options.userAgent ?? 'kube-controller-manager', accept: 'application/json' };

  async function call(request: Omit<ApiRequest, 'headers' | 'user'>, contentType?: string): Promise<ApiObject> {
    const response = await server.handle({
      ...request,
      headers: contentType ? { ...headers, 'content-type': contentType } : headers,
      user,
      internal: true,
    });
    const text = Buffer.from(response.body ?? []).toString();
    // An unknown group is answered in plain text.
    if (response.status >= 400)
      throw text.startsWith('{') ? apiErrorOf(JSON.parse(text) as StatusBody) : plainError(response.status, text);
    return parseExactly(text) as unknown as ApiObject;
  }

  return {
    get: (address) => call({ method: 'GET', path: pathOf(address) }),

    async list(address, selection = {}) {
      const body = await call({ method: 'GET', path: pathOf(address, { ...selection }) });
      const apiVersion = address.group ? `${address.group}/${address.version}` : address.version;
      const kind = String(body.kind).replace(/List$/, '');
      const items = ((body['items'] ?? []) as ApiObject[]).map((item) => ({ apiVersion, kind, ...item }));
      return { items, resourceVersion: body.metadata.resourceVersion ?? '' };
    },

    create: (address, object) =>
      call({ method: 'POST', path: pathOf(address), body: encode(object) }, 'application/json'),

    update: (address, object) =>
      call({ method: 'PUT', path: pathOf(address), body: encode(object) }, 'application/json'),

    patch: (address, type, patch) =>
      call({ method: 'PATCH', path: pathOf(address), body: encode(patch) }, patchContentTypes[type]),

    delete: (address, request = {}) =>
      call({ method: 'DELETE', path: pathOf(address), body: encode(request) }, 'application/json'),

    watch(address, { resourceVersion, ...selection }, handler) {
      let over = false;
      let stream: { close(): void } | undefined;
      const close = (reason?: StatusBody) => {
        if (over) return;
        over = true;
        stream?.close();
        handler.closed(reason);
      };
      const path = pathOf(address, { ...selection, resourceVersion, watch: 'true' });
      server.handle({ method: 'GET', path, headers, user, internal: true }).then(
        (response) => {
          if (!response.stream) {
            const text = Buffer.from(response.body ?? []).toString();
            close(text.startsWith('{') ? (JSON.parse(text) as StatusBody) : plainError(response.status, text).status);
            return;
          }
          const started = response.stream({
            write: () => true,
            event(type, object) {
              if (over) return;
              if (type === 'ERROR') close(object as unknown as StatusBody);
              else handler.event(type as 'ADDED' | 'MODIFIED' | 'DELETED', object);
            },
            end: () => close(),
          });
          if (over) started.close();
          else stream = started;
        },
        () => close(),
      );
      return {
        close() {
          over = true;
          stream?.close();
        },
      };
    },

    resources: () => server.registry.resources(),
    onResourcesChanged: (listener) => server.registry.onChange(listener),
  };
}

/** The URL of a collection, an object or a subresource. */
export function pathOf(
  address: CollectionAddress & Partial<ObjectAddress>,
  query: Record<string, string | undefined> = {},
): string {
  let path = address.group ? `/apis/${address.group}/${address.version}` : `/api/${address.version}`;
  if (address.namespace) path += `/namespaces/${encodeURIComponent(address.namespace)}`;
  path += `/${address.plural}`;
  if (address.name) path += `/${encodeURIComponent(address.name)}`;
  if (address.subresource) path += `/${address.subresource}`;
  const set = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return set.length ? `${path}?${new URLSearchParams(set).toString()}` : path;
}

function encode(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function plainError(code: number, text: string): ApiError {
  return new ApiError({ code, message: text.trim(), ...(code === 404 ? { reason: 'NotFound' } : {}) });
}

function apiErrorOf(status: StatusBody): ApiError {
  const { code, message, reason, details } = status;
  return new ApiError({ code, message, reason, details });
}
