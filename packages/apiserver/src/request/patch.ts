import { ApiError, badRequest } from '../api-error.ts';
import { notImplemented } from '../http/misses.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { Answer } from './answer.ts';
import { header, type Core, type ResourceRequest } from './core.ts';
import { decodeObject } from './decode-object.ts';
import { trackedFields } from './field-ownership.ts';
import { writeOptions } from './options.ts';
import { change, keepOtherHalf, keepSystemFields, matchIdentity } from './update.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** The kind of patch in the body; 415 when there is no such kind for this resource. */
export function patchType(request: ResourceRequest): PatchType {
  const type = patchTypes[header(request, 'content-type').split(';')[0]!.trim().toLowerCase()];
  const { custom } = request.resource;
  if (type && !(custom && type === 'strategic')) return type;
  if (!custom) {
    throw new ApiError({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: '415: Unsupported Media Type',
      details: {},
    });
  }
  throw new ApiError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  });
}

/** PATCH of an object or its status. */
export async function patch(core: Core, request: ResourceRequest): Promise<Answer> {
  const type = patchType(request);
  const options = writeOptions(request, 'PatchOptions', type === 'apply');
  return change(core, request, {
    options,
    async next(live) {
      const document = await patchedDocument(request, type, live, request.resource.schema);
      const next = await decodeObject(
        { ...request, body: Buffer.from(JSON.stringify(document)), headers: { 'content-type': 'application/json' } },
        options.fieldValidation,
      );
      matchIdentity(next, request);
      keepSystemFields(next, live);
      keepOtherHalf(next, live, request);
      trackedFields(core, request, { live, next, options });
      return next;
    },
  });
}

/** The document a patch makes out of another one. */
export async function patchedDocument(
  request: ResourceRequest,
  type: PatchType,
  document: ApiObject,
  schema: Schema,
): Promise<Json> {
  void schema;
  const text = Buffer.from(request.body ?? []).toString();
  let body: Json;
  try {
    body = JSON.parse(text) as Json;
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
  if (type !== 'merge') throw notImplemented(`${type} patch`);
  return merged(structuredClone(document) as unknown as Json, body);
}

function merged(target: Json, change: Json): Json {
  if (change === null || typeof change !== 'object' || Array.isArray(change)) return change;
  const result: JsonObject = target && typeof target === 'object' && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key] ?? null, value);
  }
  return result;
}
