import { ApiError, badRequest } from '../api-error.ts';
import type { ApiObject, JsonObject } from '../object.ts';
import { decodeProtobuf, ProtobufError } from '../protobuf/decode.ts';
import { builtinDefinition } from '../schema/builtin.ts';
import { GoTypeError } from '../schema/check-types.ts';
import { conformToBuiltin, decodeBody, mediaType } from '../schema/decode.ts';
import { header, type ResourceRequest } from './core.ts';

/** DeleteOptions in a body; undefined when there is no body. */
export function decodeOptions(request: ResourceRequest): JsonObject | undefined {
  if (!request.body?.length) return undefined;
  const object = {
    ...untyped(request, request.body),
    apiVersion: 'v1',
    kind: 'DeleteOptions',
  } as unknown as JsonObject;
  const schema = builtinDefinition('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions')!;
  try {
    return conformToBuiltin(object, schema, 'DeleteOptions').object;
  } catch (error) {
    if (error instanceof GoTypeError) throw badRequest(error.message);
    throw error;
  }
}

/** Clients write these options in the group they talk to, in `v1` or in `meta.k8s.io/v1`: it is one kind, so the version is not looked at. */
function untyped(request: ResourceRequest, body: Uint8Array): Partial<ApiObject> {
  const contentType = header(request, 'content-type');
  if (mediaType(contentType) === 'application/vnd.kubernetes.protobuf') {
    try {
      return decodeProtobuf(body).object as unknown as Partial<ApiObject>;
    } catch (error) {
      if (error instanceof ProtobufError) throw badRequest(error.message);
      throw error;
    }
  }
  const text = Buffer.from(body).toString();
  const [, apiVersion = 'v1'] = /["']?apiVersion["']?\s*:\s*["']?([^"',\s}]+)/.exec(text) ?? [];
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const expected = { group, version: apiVersion.slice(slash + 1), kind: 'DeleteOptions', custom: false };
  try {
    return decodeBody(body, contentType, expected).object;
  } catch (error) {
    if (error instanceof ApiError) error.status.message = optionsMessage(error.status.message ?? '', text);
    throw error;
  }
}

/** Options are decoded without the codec of a resource, which words its errors for objects. */
function optionsMessage(message: string, body: string): string {
  const unregistered = /^(\S+) in version "(.*?)" cannot be handled as a DeleteOptions/.exec(message);
  if (unregistered) {
    const [, kind, version] = unregistered;
    return `no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`;
  }
  return message
    .replace('the object provided is unrecognized (must be of type DeleteOptions): ', '')
    .replace(` (${body})`, '');
}
