import { cloneJson } from '../clone-json.ts';
import { ApiError, badRequest, conflict, plainInternalError } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import { decodeApplyPatch, decodeJsonPatch, decodeMergePatch } from '../patch/decode-patch.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts';
import { GoTypeError } from '../schema/check-types.ts';
import { conformCustomBody, conformToBuiltin } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';
import type { Answer } from './answer.ts';
import { header, type Core, type ResourceRequest } from './core.ts';
import { createMissing, matchNamespace } from './create.ts';
import { conformPatched } from './decode-object.ts';
import { appliedObject, trackedFields } from './field-ownership.ts';
import { writeOptions, type FieldValidation, type WriteOptions } from './options.ts';
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
  const patched = readPatch(request, type, options.fieldValidation);
  return change(core, request, {
    options,
    next(live) {
      // Patching shares what it does not touch; the rest of the pipeline changes its object in place.
      const document = cloneJson(patched(live, request.resource.schema));
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
    const object = conformMerged(merged, resource);
    resource.strategy.applyDefaults(object);
    return object;
  };
  return change(core, request, {
    options,
    next(live) {
      const next = cloneJson(appliedObject(core, request, live, config, options, finish));
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
      const { uid } = config.metadata;
      if (uid) {
        const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
        throw conflict(resource, request.name, why);
      }
      const object = cloneJson(appliedObject(core, request, undefined, config, options, finish));
      matchIdentity(object, request);
      matchNamespace(object, request);
      return createMissing(core, request, object, options);
    },
  });
}

/** A number that fits the schema and not the field is a mistake of the configuration; the real server calls such 500 without a reason. */
function conformMerged(merged: ApiObject, resource: ResourceRequest['resource']): ApiObject {
  if (resource.custom) return conformCustomBody(merged, resource.schema, resource).object;
  try {
    return conformToBuiltin(merged, resource.schema, resource.kind).object;
  } catch (error) {
    if (error instanceof GoTypeError) throw plainInternalError(error.message);
    throw error;
  }
}

export function applyBody(request: ResourceRequest, options: WriteOptions): ApiObject {
  const { config, strictErrors } = decodeApplyPatch(request.body ?? new Uint8Array());
  report(strictErrors, request, options.fieldValidation, 'error strict decoding YAML: ');
  return { ...config, metadata: config['metadata'] ?? {} } as unknown as ApiObject;
}

/** A decoded patch, waiting for a document. */
export type Patch = (document: ApiObject, schema: Schema) => JsonObject;

/** Reads the body of a patch. */
export function readPatch(request: ResourceRequest, type: PatchType, validation: FieldValidation): Patch {
  const body = request.body ?? new Uint8Array();
  if (type === 'json') {
    const { operations, strictErrors } = decodeJsonPatch(body);
    report(strictErrors, request, validation, 'strict decoding error: ');
    return (document) => applyJsonPatch(document as unknown as JsonObject, operations);
  }
  if (type === 'apply') {
    const { config } = decodeApplyPatch(body);
    // Applying a scale is merging two numbers; ownership of scales is settled elsewhere.
    return (document) => applyMergePatch(document as unknown as JsonObject, config);
  }
  const { patch: change, strictErrors } = decodeMergePatch(body, type);
  report(strictErrors, request, validation, 'strict decoding error: ');
  return type === 'merge'
    ? (document) => applyMergePatch(document as unknown as JsonObject, change)
    : (document, schema) => applyStrategicMergePatch(document as unknown as JsonObject, change, schema);
}

function report(problems: string[], request: ResourceRequest, validation: FieldValidation, prefix: string): void {
  if (problems.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict') throw badRequest(prefix + problems.join(', '));
  request.warnings.push(...problems);
}
