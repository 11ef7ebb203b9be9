import { badRequest, invalid } from '../api-error.ts';
import { orderedMetadata } from '../http/encode.ts';
import { asObject } from '../kinds/json-access.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import { GoTypeError } from '../schema/check-types.ts';
import {
  conformBody,
  conformCustomBody,
  conformToBuiltin,
  decodeBody,
  strictErrorsOf,
  withPrintedMetadata,
} from '../schema/decode.ts';
import { pruneUnknown } from '../schema/prune.ts';
import type { Schema } from '../schema/schema.ts';
import { header, type ResourceRequest } from './core.ts';
import type { FieldValidation } from './options.ts';

/** What a body is expected to hold; a subresource may expect another kind than its resource. */
export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly custom: boolean;
  readonly schema: Schema;
}

/** The body as an object: decoded, checked for unknown fields, completed with what Go would print, defaulted. */
export function decodeObject(
  request: ResourceRequest,
  validation: FieldValidation,
  expected: ExpectedKind = request.resource,
): ApiObject {
  const decoded = decodeBody(request.body ?? new Uint8Array(), header(request, 'content-type'), expected);
  const { object, unknownFields } = expected.custom
    ? conformCustomBody(decoded.object, expected.schema, expected)
    : conformBody(decoded.object, expected);
  const problems = strictErrorsOf(decoded, unknownFields, expected.custom);
  if (problems.length > 0) {
    if (validation === 'Strict') {
      throw badRequest(
        `${expected.kind} in version "${expected.version}" cannot be handled as a ${expected.kind}: strict decoding error: ${problems.join(', ')}`,
      );
    }
    if (validation === 'Warn') request.warnings.push(...problems);
  }
  object.metadata ??= {};
  if (expected === request.resource) request.resource.strategy.applyDefaults(object);
  return object;
}

/** The same for the result of a patch, where a mistake is the patch's. */
export function conformPatched(
  request: ResourceRequest,
  document: JsonObject,
  validation: FieldValidation,
  expected: ExpectedKind = request.resource,
): ApiObject {
  let conformed: { object: ApiObject; unknownFields: string[] };
  try {
    const given = { ...document, metadata: document['metadata'] ?? {} } as unknown as ApiObject;
    conformed = expected.custom
      ? conformPatchedCustom(given, expected)
      : conformToBuiltin(given, expected.schema, expected.kind);
    if (!expected.custom) refuseOtherKind(given, expected);
  } catch (error) {
    if (!(error instanceof GoTypeError)) throw error;
    throw invalidPatch(document, error.message);
  }
  const problems = conformed.unknownFields.map((path) => `unknown field "${path}"`);
  if (problems.length > 0) {
    if (validation === 'Strict') throw invalidPatch(document, `strict decoding error: ${problems.join(', ')}`);
    if (validation === 'Warn') request.warnings.push(...problems);
  }
  const { object } = conformed;
  object.metadata ??= {};
  if (expected === request.resource) request.resource.strategy.applyDefaults(object);
  return object;
}

function refuseOtherKind({ apiVersion, kind }: ApiObject, expected: ExpectedKind): void {
  const version = expected.group ? `${expected.group}/${expected.version}` : expected.version;
  if (kind === expected.kind && apiVersion === version) return;
  throw new GoTypeError(`the patch makes a ${apiVersion} ${kind} of a ${version} ${expected.kind}`);
}

function conformPatchedCustom(
  object: ApiObject,
  expected: ExpectedKind,
): { object: ApiObject; unknownFields: string[] } {
  const { unknownFields, object: pruned } = pruneUnknown(object, expected.schema);
  return { unknownFields, object: withPrintedMetadata(pruned) };
}

function invalidPatch(document: JsonObject, problem: string): Error {
  const metadata = asObject(document['metadata']) as ApiObject['metadata'] | undefined;
  const printed = metadata ? { ...document, metadata: orderedMetadata(metadata) } : document;
  const sorted = Object.fromEntries(Object.entries(printed).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const error = invalid({ group: '', plural: '', kind: '' }, '', [
    {
      reason: 'FieldValueInvalid',
      field: 'patch',
      detail: `Invalid value: ${JSON.stringify(JSON.stringify(sorted))}: ${problem}`,
    },
  ]);
  delete error.status.details!.kind;
  return error;
}
