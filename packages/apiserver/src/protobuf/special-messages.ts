import type { Json, JsonObject } from '../object.ts';
import { builtinDefinition } from '../schema/builtin.ts';
import { JsonSyntaxError, parseJson } from '../schema/json-text.ts';
import { addZeroValues } from '../schema/zero-values.ts';
import { ProtobufError, type WireReader } from './wire-reader.ts';

/** Reads an ordinary message of the named definition. */
type ReadMessage = (reader: WireReader, definition: string) => JsonObject;
type ReadSpecial = (reader: WireReader, readMessage: ReadMessage) => Json;

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const extensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const schemaProps = `${extensions}.JSONSchemaProps`;

/** Messages whose JSON form is not an object with their fields. */
export const specialMessages: Readonly<Record<string, ReadSpecial>> = {
  [`${meta}.Time`]: (reader) => {
    const time = readTime(reader);
    return time && `${isoSeconds(time.seconds)}Z`;
  },
  [`${meta}.MicroTime`]: (reader) => {
    const time = readTime(reader);
    return time && `${isoSeconds(time.seconds)}.${String(Math.trunc(time.nanos / 1000)).padStart(6, '0')}Z`;
  },
  [`${meta}.Duration`]: (reader) => {
    let nanoseconds = 0;
    for (const { field, wireType } of reader.fields()) {
      if (field === 1) nanoseconds = reader.varint(wireType);
      else reader.skip(wireType);
    }
    return goDuration(nanoseconds);
  },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': (reader) => {
    let text = '0';
    for (const { field, wireType } of reader.fields()) {
      if (field === 1) text = reader.text(wireType);
      else reader.skip(wireType);
    }
    return text;
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': (reader) => {
    let isText = false;
    let number = 0;
    let text = '';
    for (const { field, wireType } of reader.fields()) {
      if (field === 1) isText = reader.varint(wireType) === 1;
      else if (field === 2) number = reader.varint(wireType);
      else if (field === 3) text = reader.text(wireType);
      else reader.skip(wireType);
    }
    return isText ? text : number;
  },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': readRawJson,
  [`${meta}.FieldsV1`]: readRawJson,
  [`${extensions}.JSON`]: readRawJson,
  [`${extensions}.JSONSchemaPropsOrBool`]: (reader, readMessage) => {
    let allows = false;
    let schema: Json | undefined;
    for (const { field, wireType } of reader.fields()) {
      if (field === 1) allows = reader.varint(wireType) !== 0;
      else if (field === 2) schema = readSchema(reader.message(wireType), readMessage);
      else reader.skip(wireType);
    }
    return schema ?? allows;
  },
  [`${extensions}.JSONSchemaPropsOrArray`]: (reader, readMessage) => {
    let schema: Json = null;
    const list: Json[] = [];
    for (const { field, wireType } of reader.fields()) {
      if (field === 1) schema = readSchema(reader.message(wireType), readMessage);
      else if (field === 2) list.push(readSchema(reader.message(wireType), readMessage));
      else reader.skip(wireType);
    }
    return list.length > 0 ? list : schema;
  },
  [`${extensions}.JSONSchemaPropsOrStringArray`]: (reader, readMessage) => {
    let schema: Json | undefined;
    const names: Json[] = [];
    for (const { field, wireType } of reader.fields()) {
      if (field === 1) schema = readSchema(reader.message(wireType), readMessage);
      else if (field === 2) names.push(reader.text(wireType));
      else reader.skip(wireType);
    }
    return schema ?? names;
  },
};

/** Go writes every field of a schema into protobuf; what is empty must go, as it does wherever a field says what it holds. */
function readSchema(reader: WireReader, readMessage: ReadMessage): JsonObject {
  return addZeroValues(readMessage(reader, schemaProps), builtinDefinition(schemaProps)!);
}

/** Null when the message is empty: that is how no time at all travels. */
function readTime(reader: WireReader): { seconds: number; nanos: number } | null {
  let seconds = 0;
  let nanos = 0;
  let empty = true;
  for (const { field, wireType } of reader.fields()) {
    empty = false;
    if (field === 1) seconds = reader.varint(wireType);
    else if (field === 2) nanos = reader.varint(wireType);
    else reader.skip(wireType);
  }
  return empty ? null : { seconds, nanos };
}

function isoSeconds(seconds: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0) {
    throw new ProtobufError(`time ${seconds} is out of range`);
  }
  return date.toISOString().slice(0, 19);
}

function readRawJson(reader: WireReader): Json {
  let raw = '';
  for (const { field, wireType } of reader.fields()) {
    if (field === 1) raw = reader.text(wireType);
    else reader.skip(wireType);
  }
  if (raw === '') return null;
  try {
    return parseJson(raw).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new ProtobufError(`embedded JSON: ${error.message}`);
  }
}

/** Go's text of a duration: `1h2m3.5s`, `150ms`, `0s`. */
export function goDuration(nanoseconds: number): string {
  if (nanoseconds === 0) return '0s';
  const sign = nanoseconds < 0 ? '-' : '';
  const value = Math.abs(nanoseconds);
  if (value < 1e3) return `${sign}${value}ns`;
  if (value < 1e6) return `${sign}${value / 1e3}µs`;
  if (value < 1e9) return `${sign}${value / 1e6}ms`;
  const hours = Math.floor(value / 3.6e12);
  const minutes = Math.floor((value % 3.6e12) / 6e10);
  const seconds = Number(((value % 6e10) / 1e9).toFixed(9));
  const head = hours > 0 ? `${hours}h${minutes}m` : minutes > 0 ? `${minutes}m` : '';
  return `${sign}${head}${seconds}s`;
}
