import type { StatusBody } from './api-error.ts';
import type { ApiObject, Json } from './object.ts';

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
