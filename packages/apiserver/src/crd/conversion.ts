import { plainInternalError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import type { Conversion } from '../resource.ts';
import { asObject } from '../kinds/json-access.ts';

/**
 * Sends objects to a conversion webhook: posts a ConversionReview to `clientConfig` and answers the converted objects, in order.
 * Throws when the webhook cannot be reached or refuses.
 */
export type ConvertObjects = (
  objects: readonly ApiObject[],
  desiredApiVersion: string,
  webhook: JsonObject,
) => Promise<ApiObject[]>;

/** How objects of `version` become objects of the storage version and back. */
export function conversionOf(
  spec: JsonObject,
  group: string,
  version: string,
  storageVersion: string,
  convert: ConvertObjects | undefined,
): Conversion {
  const conversion = asObject(spec['conversion']) ?? {};
  const here = `${group}/${version}`;
  const stored = `${group}/${storageVersion}`;
  if (conversion['strategy'] !== 'Webhook') {
    return {
      toStorage: (objects) => objects.map((object) => ({ ...object, apiVersion: stored })),
      fromStorage: (objects) => objects.map((object) => ({ ...object, apiVersion: here })),
    };
  }
  const webhook = asObject(conversion['webhook']) ?? {};
  return {
    toStorage: (objects) => throughWebhook(objects, stored, webhook, convert),
    fromStorage: (objects) => throughWebhook(objects, here, webhook, convert),
  };
}

async function throughWebhook(
  objects: readonly ApiObject[],
  desired: string,
  webhook: JsonObject,
  convert: ConvertObjects | undefined,
): Promise<ApiObject[]> {
  if (objects.length === 0) return [];
  const from = objects[0]!.apiVersion ?? '';
  const kind = objects[0]!.kind ?? '';
  const failed = (why: string) => plainInternalError(`conversion webhook for ${from}, Kind=${kind} failed: ${why}`);
  if (!convert) throw failed('no conversion webhook client is configured');
  let converted: ApiObject[];
  try {
    converted = await convert(objects, desired, webhook);
  } catch (error) {
    throw failed(error instanceof Error ? error.message : String(error));
  }
  if (converted.length !== objects.length) {
    throw failed(`webhook returned ${converted.length} objects, expected ${objects.length}`);
  }
  return converted.map((object, index) => withUntouchedMetadata(object, objects[index]!, desired, index, failed));
}

/** A webhook may change labels and annotations, nothing else of the metadata. */
function withUntouchedMetadata(
  converted: ApiObject,
  original: ApiObject,
  desired: string,
  index: number,
  failed: (why: string) => Error,
): ApiObject {
  if (converted.apiVersion !== desired) {
    throw failed(
      `invalid groupVersion: conversion webhook returned object at index ${index} with apiVersion "${converted.apiVersion ?? ''}", expected "${desired}"`,
    );
  }
  if (converted.kind !== original.kind) {
    throw failed(
      `invalid kind: conversion webhook returned object at index ${index} with kind "${converted.kind ?? ''}", expected "${original.kind ?? ''}"`,
    );
  }
  const metadata = { ...original.metadata };
  for (const field of ['labels', 'annotations'] as const) {
    const value = converted.metadata?.[field];
    if (value) metadata[field] = value;
    else delete metadata[field];
  }
  return { ...converted, metadata };
}
