import { goKind } from './go-types.ts';
import { isJsonObject } from '../big-integer.ts';
import { ApiError, badRequest } from '../api-error.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import { ProtobufError, decodeProtobuf } from '../protobuf/decode.ts';
import { builtinDefinition, builtinDefinitionName, builtinSchema } from './builtin.ts';
import { GoTypeError, checkTypes } from './check-types.ts';
import { JsonSyntaxError, parseJson } from './json-text.ts';
import { type Pruned, pruneUnknown } from './prune.ts';
import type { Schema } from './schema.ts';
import { YamlSyntaxError, parseYaml } from './yaml-text.ts';
import { addZeroValues } from './zero-values.ts';

export { parseJson };

/** What a body must hold. */
export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly custom: boolean;
}

export interface DecodedBody {
  object: ApiObject;
  /** Paths of fields named twice in JSON. */
  duplicateFields: string[];
  /** Go's texts for `fieldValidation`: what `Warn` warns about and `Strict` refuses, except unknown fields. */
  strictErrors: string[];
  /** Where in the document each field stands; only there when fields are named twice. */
  fieldOrder?: ReadonlyMap<string, number>;
  /** True when the body was protobuf: it has no unknown fields and no wrong types. */
  typed: boolean;
}

const jsonTypes = new Set(['application/json', '']);
const yamlTypes = new Set(['application/yaml', 'application/x-yaml', 'text/yaml']);
const protobufType = 'application/vnd.kubernetes.protobuf';
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** `application/json; charset=utf-8` → `application/json`. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  });
}

/**
 * Reads the body of a create or update request: JSON, YAML or (built-ins) protobuf, with `apiVersion` and `kind` checked and, for
 * built-ins, filled in when absent. Throws the {@link ApiError} the real server answers.
 */
export function decodeBody(bytes: Uint8Array, contentType: string | undefined, expected: ExpectedKind): DecodedBody {
  const type = mediaType(contentType);
  if (type === protobufType && !expected.custom) return decodeProtobufBody(bytes, expected);
  if (!jsonTypes.has(type) && !yamlTypes.has(type)) {
    throw unsupportedMediaType(['application/json', 'application/yaml', protobufType]);
  }
  const text = utf8.decode(bytes);
  let value: Json;
  let duplicateFields: string[] = [];
  let strictErrors: string[] = [];
  let fieldOrder: ReadonlyMap<string, number> | undefined;
  try {
    if (jsonTypes.has(type)) {
      ({ value, duplicateFields, fieldOrder } = parseJson(text));
      strictErrors = duplicateFields.map((path) => `duplicate field "${path}"`);
    } else ({ value, strictErrors } = parseYaml(text));
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      throw unrecognized(`couldn't get version/kind; json parse error: ${error.message}`, bytes, expected);
    }
    if (error instanceof YamlSyntaxError) {
      throw unrecognized(error.message, bytes, expected);
    }
    throw error;
  }
  const object = expected.custom ? customObject(value, bytes, expected) : builtinObject(value, bytes, expected);
  return { object, duplicateFields, strictErrors, typed: false, ...(fieldOrder ? { fieldOrder } : {}) };
}

function decodeProtobufBody(bytes: Uint8Array, expected: ExpectedKind): DecodedBody {
  try {
    const { apiVersion, kind, object } = decodeProtobuf(bytes);
    const value: JsonObject = { ...object, apiVersion, kind };
    return { object: builtinObject(value, bytes, expected), duplicateFields: [], strictErrors: [], typed: true };
  } catch (error) {
    if (error instanceof ProtobufError) throw unrecognized(error.message, bytes, expected);
    throw error;
  }
}

/** All texts of strict validation: of a built-in in the order of the document, of a custom resource unknown fields last. */
export function strictErrorsOf(body: DecodedBody, unknownFields: readonly string[], custom: boolean): string[] {
  const { fieldOrder, duplicateFields, strictErrors } = body;
  const unknown = unknownFields.map((path) => `unknown field "${path}"`);
  if (custom || !fieldOrder) return [...strictErrors, ...unknown];
  const paths = [...duplicateFields, ...unknownFields];
  return [...strictErrors, ...unknown]
    .map((text, index) => ({ text, at: fieldOrder.get(paths[index] ?? '') ?? 0 }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ text }) => text);
}

/** The 400 for a body whose kind could not even be read. */
function unrecognized(problem: string, bytes: Uint8Array, expected: ExpectedKind): ApiError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${expected.kind}): ${problem} (${summaryOf(bytes)})`,
  );
}

function summaryOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const head = Buffer.from(bytes.subarray(0, 30));
  const text = bytes[0] === 0x7b ? head.toString('utf8') : head.toString('hex');
  return bytes.length > 30 ? `${text} ...` : text;
}

function cannotBeHandled(group: string, version: string, kind: string, expected: ExpectedKind, why: string): ApiError {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${expected.kind}: ${why}`);
}

const typeMetaStruct =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The fields of a body after a first look at its kind, as the real server takes it before anything else. */
function interpret(value: Json, bytes: Uint8Array, expected: ExpectedKind): JsonObject {
  const fail = (problem: string): ApiError =>
    unrecognized(`couldn't get version/kind; json parse error: ${problem}`, bytes, expected);
  if (value !== null && !isJsonObject(value)) {
    throw fail(`json: cannot unmarshal ${goKind(value)} into Go value of type ${typeMetaStruct}`);
  }
  const given = value ?? {};
  for (const field of ['apiVersion', 'kind']) {
    const text = given[field];
    if (text !== undefined && text !== null && typeof text !== 'string') {
      throw fail(`json: cannot unmarshal ${goKind(text)} into Go struct field .${field} of type string`);
    }
  }
  return given;
}

function builtinObject(value: Json, bytes: Uint8Array, expected: ExpectedKind): ApiObject {
  const given = interpret(value, bytes, expected);
  const expectedVersion = expected.group === '' ? expected.version : `${expected.group}/${expected.version}`;
  const apiVersion = (given['apiVersion'] as string) || expectedVersion;
  const kind = (given['kind'] as string) || expected.kind;
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  if (kind !== expected.kind || apiVersion !== expectedVersion) {
    if (version.includes('/')) {
      throw unrecognized(`unexpected GroupVersion string: ${apiVersion}`, bytes, expected);
    }
    if (builtinDefinitionName(group, version, kind) === undefined) {
      const why = `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
      throw cannotBeHandled(group, version, kind, expected, why);
    }
    if (kind !== expected.kind || group !== expected.group) {
      const why = `converting (${version}.${kind}) to (${internalPackage(expected.group)}.${expected.kind}): unknown conversion`;
      throw cannotBeHandled(group, version, kind, expected, why);
    }
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expectedVersion})`,
    );
  }
  const metadata = given['metadata'];
  return { ...given, apiVersion, kind, metadata: metadata ?? {} } as unknown as ApiObject;
}

function internalPackage(group: string): string {
  if (group === '' || group === 'events.k8s.io') return 'core';
  return group.split('.', 1)[0] ?? group;
}

function customObject(value: Json, bytes: Uint8Array, expected: ExpectedKind): ApiObject {
  const given = interpret(value, bytes, expected);
  const { kind, metadata, apiVersion } = given;
  if (!kind) throw unrecognized(`Object 'Kind' is missing in '${utf8.decode(bytes).trim()}'`, bytes, expected);
  const expectedVersion = `${expected.group}/${expected.version}`;
  if (apiVersion !== expectedVersion) {
    const written = typeof apiVersion === 'string' ? apiVersion : '';
    throw badRequest(
      `the API version in the data (${written}) does not match the expected API version (${expectedVersion})`,
    );
  }
  return { ...given, metadata: metadata ?? {} } as unknown as ApiObject;
}

/**
 * Turns a built-in object out of a decoded body or a patch into what the Go struct would hold: types checked, unknown fields
 * dropped and listed, zero values added. Throws {@link GoTypeError}.
 */
export function conformToBuiltin<T extends ApiObject | JsonObject>(object: T, schema: Schema, kind: string): Pruned<T> {
  checkTypes(object, schema, kind);
  const pruned = pruneUnknown(object, schema);
  return { object: addZeroValues(pruned.object, schema), unknownFields: pruned.unknownFields };
}

/** {@link conformToBuiltin} for a request body: a wrong type becomes the 400 the real server gives. */
export function conformBody(object: ApiObject, expected: ExpectedKind): Pruned<ApiObject> {
  const schema = builtinSchema(expected.group, expected.version, expected.kind);
  if (!schema) throw new Error(`no built-in kind ${expected.group}/${expected.version} ${expected.kind}`);
  try {
    return conformToBuiltin(object, schema, expected.kind);
  } catch (error) {
    if (!(error instanceof GoTypeError)) throw error;
    throw cannotBeHandled(expected.group, expected.version, expected.kind, expected, error.message);
  }
}

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/**
 * Brings a custom resource into the form the server works on: `metadata` as its Go struct prints it, unknown fields dropped and
 * listed. Values below `metadata` are not checked here: validation by the CRD's schema does that. Throws the 400 for wrong types in
 * `metadata`.
 */
export function conformCustomBody(object: ApiObject, schema: Schema, expected: ExpectedKind): Pruned<ApiObject> {
  const pruned = pruneUnknown(object, schema);
  try {
    return { ...pruned, object: withPrintedMetadata(pruned.object) };
  } catch (error) {
    if (!(error instanceof GoTypeError)) throw error;
    throw cannotBeHandled(expected.group, expected.version, object.kind ?? '', expected, error.message);
  }
}

/** `metadata` of a custom resource as its Go struct prints it. Throws {@link GoTypeError}. */
export function withPrintedMetadata(object: ApiObject): ApiObject {
  const schema = builtinDefinition(objectMeta) as Schema;
  checkTypes(object.metadata, schema, 'ObjectMeta');
  return { ...object, metadata: addZeroValues(pruneUnknown(object.metadata as JsonObject, schema).object, schema) };
}
