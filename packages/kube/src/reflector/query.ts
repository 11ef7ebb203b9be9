import { collectionPath, type QueryValue, withQuery } from '../resource-path.ts';
import type { Kind } from '../kind.ts';

/** What a reflector follows. Both its LIST and its WATCH are built from this one value, so they cannot differ. */
export interface ReflectorQuery {
  readonly kind: Kind;
  /** Absent: all namespaces, or a cluster-scoped kind. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly metadataOnly: boolean;
}

/** Path and query of a request for the objects of `query`. */
export function queryPath(query: ReflectorQuery, parameters: Readonly<Record<string, QueryValue>>): string {
  return withQuery(collectionPath(query.kind, query.namespace), {
    labelSelector: query.labelSelector,
    fieldSelector: query.fieldSelector,
    ...parameters,
  });
}

const metadataOf = 'g=meta.k8s.io;v=v1';

export const listHeaders = (query: ReflectorQuery) => ({
  accept: query.metadataOnly
    ? `application/json;as=PartialObjectMetadataList;${metadataOf},application/json`
    : 'application/json',
});

export const watchHeaders = (query: ReflectorQuery) => ({
  accept: query.metadataOnly
    ? `application/json;as=PartialObjectMetadata;${metadataOf},application/json`
    : 'application/json',
});
