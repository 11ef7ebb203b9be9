import { orderedMetadata } from '../http/encode.ts';
import type { Representation } from '../http/negotiate.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** `metadata` alone, dressed as an object. */
export function partialMetadata(object: ApiObject): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: orderedMetadata(object.metadata) as unknown as JsonObject,
  };
}

export function tableRow(
  object: ApiObject,
  resource: Resource,
  includeObject: Representation['includeObject'],
  now: number,
): JsonObject {
  const shown =
    includeObject === 'Object'
      ? (object as unknown as JsonObject)
      : includeObject === 'Metadata'
        ? partialMetadata(object)
        : null;
  return { cells: resource.strategy.cells(object, now), object: shown };
}

export function tableOf(
  metadata: JsonObject,
  columns: Resource['columns'] | null,
  rows: readonly JsonObject[],
): JsonObject {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns as unknown as Json,
    rows: [...rows],
  };
}
