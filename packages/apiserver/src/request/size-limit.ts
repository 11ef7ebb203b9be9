import { plainInternalError } from '../api-error.ts';
import { isBigInteger, isJsonObject } from '../big-integer.ts';
import type { ApiObject, Json } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Schema } from '../schema/schema.ts';

/** What etcd takes in one request, and what its client sends at all. */
const requestLimit = 1.5 * 1024 * 1024;
const messageLimit = 2 * 1024 * 1024;
/** Below this many characters an object fits, whatever characters they are. */
const surelyFits = requestLimit / 3 - 1024;
/** The request around the object: its key twice, the condition, the frames. */
const frame = 200;

/** Throws what the real server answers when etcd does not take an object because of its size. */
export function checkSize(object: ApiObject, { custom, schema }: Resource): void {
  if (characters(object as unknown as Json) < surelyFits) return;
  const stored = custom ? Buffer.byteLength(JSON.stringify(object)) : encodedSize(object as unknown as Json, schema);
  const size = stored + frame;
  if (size > messageLimit) {
    throw plainInternalError(
      `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${size} vs. ${messageLimit})`,
    );
  }
  if (size > requestLimit) throw plainInternalError('etcdserver: request is too large');
}

function characters(value: Json): number {
  if (typeof value === 'string') return value.length + 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + characters(item) + 1, 2);
  if (!isJsonObject(value)) return 8;
  let sum = 2;
  for (const key of Object.keys(value)) sum += key.length + 4 + characters(value[key]!);
  return sum;
}

/** About what the object takes in protobuf, in which the real server stores built-in kinds: fields have numbers and no names. */
function encodedSize(value: Json, schema: Schema | undefined): number {
  if (typeof value === 'string') {
    const bytes = Buffer.byteLength(value);
    return (schema?.format === 'byte' ? Math.floor((bytes * 3) / 4) : bytes) + 3;
  }
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + encodedSize(item, schema?.items) + 1, 0);
  if (!isJsonObject(value)) return isBigInteger(value) ? 9 : 3;
  const { properties, additionalProperties } = schema ?? {};
  // Managed fields and other free content are kept as JSON.
  if (!properties && typeof additionalProperties !== 'object') return Buffer.byteLength(JSON.stringify(value)) + 3;
  let sum = 3;
  for (const key of Object.keys(value)) {
    const known = properties?.[key];
    sum += known ? 1 + encodedSize(value[key]!, known) : mapEntry(key, value[key]!, additionalProperties);
  }
  return sum;
}

function mapEntry(key: string, value: Json, schema: Schema | boolean | undefined): number {
  return Buffer.byteLength(key) + 5 + encodedSize(value, typeof schema === 'object' ? schema : undefined);
}
