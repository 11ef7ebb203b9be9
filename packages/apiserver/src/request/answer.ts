import type { StatusBody } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { StreamSink } from '../server.ts';
import type { Entry } from '../store/entry.ts';

/** What a handler found or did; the HTTP layer turns it into bytes. */
export type Answer =
  /** A stored object, shown in the version of `resource`. */
  | { readonly kind: 'entry'; readonly status: number; readonly entry: Entry; readonly resource: Resource }
  /** An object that is not (or no longer, or not like this) in the store. */
  | { readonly kind: 'object'; readonly status: number; readonly object: ApiObject; readonly resource: Resource }
  | {
      readonly kind: 'list';
      readonly entries: readonly Entry[];
      readonly metadata: ListMetadata;
      readonly resource: Resource;
    }
  | { readonly kind: 'status'; readonly status: number; readonly body: StatusBody | JsonObject }
  | { readonly kind: 'stream'; readonly start: (sink: StreamSink) => { close(): void } };

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The Status of a write that went well and has no object to show. */
export function success(code?: number): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...(code ? { code } : {}) };
}
