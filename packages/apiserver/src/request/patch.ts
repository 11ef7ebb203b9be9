import { ApiError, badRequest } from '../api-error.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import { applyJsonPatch, jsonPatchOperations } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts';
import { conformToBuiltin } from '../schema/decode.ts';
import { JsonSyntaxError, parseJson } from '../schema/json-text.ts';
import { pruneUnknown } from '../schema/prune.ts';
import type { Schema } from '../schema/schema.ts';
import { parseYaml, YamlSyntaxError } from '../schema/yaml-text.ts';
import type { Answer } from './answer.ts';
import { header, type Core, type ResourceRequest } from './core.ts';
import { createDecoded, matchNamespace } from './create.ts';
import { conformPatched } from './decode-object.ts';
import { appliedObject, trackedFields } from './field-ownership.ts';
import { writeOptions, type WriteOptions } from './options.ts';
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
  if (type === 'apply') return apply(core, request, options);
  const body = patchBody(request);
  return change(core, request, {
    options,
    next(live) {
      const document = patchedDocument(type, body, live, request.resource.schema);
      const next = conformPatched(request, document, options.fieldValidation);
      matchIdentity(next, request);
      const { uid } = next.metadata;
      keepSystemFields(next, live);
      // A wrong uid is a mistake to be told, not a system field to be kept.
      if (uid) next.metadata.uid = uid;
      keepOtherHalf(core, next, live, request);
      trackedFields(core, request, { live, next, options });
      return next;
    },
  });
}

async function apply(core: Core, request: ResourceRequest, options: WriteOptions): Promise<Answer> {
  const { resource } = request;
  const config = applyBody(request, options);
  const finish = (merged: ApiObject): ApiObject => {
    const { object } = resource.custom
      ? pruneUnknown(merged, resource.schema)
      : conformToBuiltin(merged, resource.schema, resource.kind);
    resource.strategy.applyDefaults(object);
    return object;
  };
  return change(core, request, {
    options,
    next(live) {
      const next = structuredClone(appliedObject(core, request, live, config, options, finish));
      matchIdentity(next, request);
      if (!config.metadata.resourceVersion) next.metadata.resourceVersion = live.metadata.resourceVersion;
      const { uid } = next.metadata;
      keepSystemFields(next, live);
      if (uid) next.metadata.uid = uid;
      keepOtherHalf(core, next, live, request);
      return next;
    },
    missing() {
      if (request.subresource) return undefined;
      const object = structuredClone(appliedObject(core, request, undefined, config, options, finish));
      matchIdentity(object, request);
      matchNamespace(object, request);
      return createDecoded(core, request, object, options);
    },
  });
}

function applyBody(request: ResourceRequest, options: WriteOptions): ApiObject {
  const text = Buffer.from(request.body ?? []).toString();
  let parsed: { value: Json; strictErrors: string[] };
  try {
    parsed = parseYaml(text);
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
  const { value, strictErrors } = parsed;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw badRequest('error decoding YAML: the body is not an object');
  }
  if (strictErrors.length > 0) {
    if (options.fieldValidation === 'Strict')
      throw badRequest(`error strict decoding YAML: ${strictErrors.join(', ')}`);
    if (options.fieldValidation === 'Warn') request.warnings.push(...strictErrors);
  }
  return { ...value, metadata: value['metadata'] ?? {} } as unknown as ApiObject;
}

/** The JSON in the body of a patch. */
export function patchBody(request: ResourceRequest): Json {
  try {
    return parseJson(Buffer.from(request.body ?? []).toString()).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}

/** The document a patch makes out of another one. */
export function patchedDocument(type: PatchType, body: Json, document: ApiObject, schema: Schema): JsonObject {
  const source = document as unknown as JsonObject;
  if (type === 'json') return applyJsonPatch(source, jsonPatchOperations(body));
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    const found = Array.isArray(body)
      ? 'array'
      : body === null
        ? 'null'
        : typeof body === 'boolean'
          ? 'bool'
          : typeof body;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
    );
  }
  // Applying a scale is merging two numbers; ownership of scales is settled elsewhere.
  if (type === 'merge' || type === 'apply') return applyMergePatch(source, body);
  return applyStrategicMergePatch(source, body, schema);
}
