import { packedMessages } from '../generated/protobuf.ts';
import type { Json, JsonObject } from '../object.ts';
import { setOwn } from '../own-property.ts';
import { builtinDefinition, builtinDefinitionName } from '../schema/builtin.ts';
import { GoTypeError, checkTypes } from '../schema/check-types.ts';
import { JsonSyntaxError, parseJson } from '../schema/json-text.ts';
import { locateDefinition, unpack } from '../schema/packed-data.ts';
import { addZeroValues } from '../schema/zero-values.ts';
import { specialMessages } from './special-messages.ts';
import { ProtobufError, WireReader } from './wire-reader.ts';

export { ProtobufError };

export interface DecodedProtobuf {
  apiVersion: string;
  kind: string;
  /** As Go prints the struct: zero values and all. */
  object: JsonObject;
}

/** See `tools/proto-data.ts`. */
type Field = readonly [number: number, name: string, type: string, repeated?: 1];
type Message = ReadonlyMap<number, Field>;

const magic = [0x6b, 0x38, 0x73, 0x00];
const maxDepth = 100;
const deleteOptions = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
const chunks = new Map<string, Readonly<Record<string, readonly Field[]>>>();
const messages = new Map<string, Message>();

/**
 * Decodes a body of type `application/vnd.kubernetes.protobuf`: an envelope that names the kind, around a message of a built-in
 * kind. Throws {@link ProtobufError}.
 */
export function decodeProtobuf(bytes: Uint8Array): DecodedProtobuf {
  if (bytes.length === 0) throw new ProtobufError('empty data');
  if (magic.some((byte, index) => bytes[index] !== byte)) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  const envelope = readEnvelope(new WireReader(bytes.subarray(magic.length)));
  const { apiVersion, kind, raw } = envelope;
  if (envelope.contentEncoding !== '') {
    throw new ProtobufError(`unsupported content encoding ${JSON.stringify(envelope.contentEncoding)}`);
  }
  if (envelope.contentType === 'application/json') return { apiVersion, kind, object: readJsonObject(raw) };
  const slash = apiVersion.indexOf('/');
  const definition =
    kind === 'DeleteOptions'
      ? deleteOptions
      : builtinDefinitionName(slash < 0 ? '' : apiVersion.slice(0, slash), apiVersion.slice(slash + 1), kind);
  if (definition === undefined || !messageOf(definition)) {
    throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  }
  const object = readMessage(new WireReader(raw), definition, 0);
  const schema = builtinDefinition(definition);
  if (!schema) return { apiVersion, kind, object };
  try {
    checkTypes(object, schema, kind);
  } catch (error) {
    if (!(error instanceof GoTypeError)) throw error;
    throw new ProtobufError(error.message);
  }
  return { apiVersion, kind, object: addZeroValues(object, schema) };
}

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
  contentEncoding: string;
  contentType: string;
}

function readEnvelope(reader: WireReader): Envelope {
  const envelope: Envelope = { apiVersion: '', kind: '', raw: new Uint8Array(), contentEncoding: '', contentType: '' };
  for (const { field, wireType } of reader.fields()) {
    if (field === 1) {
      const typeMeta = reader.message(wireType);
      for (const inner of typeMeta.fields()) {
        if (inner.field === 1) envelope.apiVersion = typeMeta.text(inner.wireType);
        else if (inner.field === 2) envelope.kind = typeMeta.text(inner.wireType);
        else typeMeta.skip(inner.wireType);
      }
    } else if (field === 2) envelope.raw = reader.bytes(wireType);
    else if (field === 3) envelope.contentEncoding = reader.text(wireType);
    else if (field === 4) envelope.contentType = reader.text(wireType);
    else reader.skip(wireType);
  }
  return envelope;
}

function readJsonObject(bytes: Uint8Array): JsonObject {
  try {
    const { value } = parseJson(Buffer.from(bytes).toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  throw new ProtobufError('the envelope does not hold a JSON object');
}

function messageOf(definition: string): Message | undefined {
  let message = messages.get(definition);
  if (!message) {
    const { chunk, name } = locateDefinition(definition);
    let tables = chunks.get(chunk);
    if (!tables) {
      const packed = (packedMessages as Readonly<Record<string, string>>)[chunk];
      if (packed === undefined) return undefined;
      tables = unpack(packed) as Readonly<Record<string, readonly Field[]>>;
      chunks.set(chunk, tables);
    }
    const fields = Object.hasOwn(tables, name) ? tables[name] : undefined;
    if (!fields) return undefined;
    message = new Map(fields.map((field) => [field[0], field]));
    messages.set(definition, message);
  }
  return message;
}

function readMessage(reader: WireReader, definition: string, depth: number): JsonObject {
  if (depth > maxDepth) throw new ProtobufError('messages are nested too deep');
  const message = messageOf(definition);
  if (!message) throw new ProtobufError(`unknown message ${definition}`);
  const result: JsonObject = {};
  for (const { field: number, wireType } of reader.fields()) {
    const field = message.get(number);
    if (!field) {
      reader.skip(wireType);
      continue;
    }
    const [, name, type, repeated] = field;
    if (type.startsWith('e:')) {
      const map = (result[name] ??= {}) as JsonObject;
      const [key, value] = readEntry(reader.message(wireType), type.slice(2), depth);
      setOwn(map, key, value);
    } else if (repeated) {
      const list = (result[name] ??= []) as Json[];
      if (wireType === 2 && type === 'v') list.push(...reader.packedVarints());
      else list.push(readValue(reader, type, wireType, depth));
    } else {
      const value = readValue(reader, type, wireType, depth);
      if (name === '') Object.assign(result, value);
      else setOwn(result, name, value);
    }
  }
  return result;
}

function readEntry(reader: WireReader, type: string, depth: number): [string, Json] {
  let key = '';
  let value: Json = type === 's' || type === 'y' ? '' : type === 'v' ? 0 : type === 'b' ? false : null;
  for (const { field, wireType } of reader.fields()) {
    if (field === 1) key = reader.text(wireType);
    else if (field === 2) value = readValue(reader, type, wireType, depth);
    else reader.skip(wireType);
  }
  return [key, value];
}

function readValue(reader: WireReader, type: string, wireType: number, depth: number): Json {
  switch (type) {
    case 'v':
      return reader.integer(wireType);
    case 'b':
      return reader.varint(wireType) !== 0;
    case 's':
      return reader.text(wireType);
    case 'y':
      return Buffer.from(reader.bytes(wireType)).toString('base64');
    case 'd':
      return reader.double(wireType);
    case 'f':
      return reader.float(wireType);
    default: {
      const definition = type.slice('m:'.length);
      const inner = reader.message(wireType);
      const special = specialMessages[definition];
      return special
        ? special(inner, (nested, name) => readMessage(nested, name, depth + 1))
        : unwrapItems(readMessage(inner, definition, depth + 1), definition);
    }
  }
}

/** Go's named list types travel as a message with the one field `items`. */
function unwrapItems(value: JsonObject, definition: string): Json {
  if (!listDefinitions.has(definition)) return value;
  return value['items'] ?? [];
}

const listDefinitions = new Set([
  'io.k8s.api.authentication.v1.ExtraValue',
  'io.k8s.api.authorization.v1.ExtraValue',
  'io.k8s.api.certificates.v1.ExtraValue',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Verbs',
]);
