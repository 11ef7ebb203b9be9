import { isBigInteger } from '../big-integer.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import type { Schema } from './schema.ts';

export interface Pruned<T> {
  /** The object itself when nothing had to go, else a copy without the unknown fields. */
  object: T;
  /** Go's paths of what was dropped: `spec.foo`, `spec.containers[0].bar`. */
  unknownFields: string[];
}

const maxUnknownFields = 100;
/** Characters of paths that are reported. Below a key of a million characters every field has a path as long. */
const maxPathText = 1_000_000;
const resourceFields = new Set(['apiVersion', 'kind', 'metadata']);

/** Drops fields the schema does not know. Built-ins report them in the order of the document, custom resources sorted. */
export function pruneUnknown<T extends ApiObject | JsonObject>(object: T, schema: Schema): Pruned<T> {
  const unknownFields: string[] = [];
  const pruned = prune(object as JsonObject, schema, '', unknownFields) as unknown as T;
  unknownFields.length = countWithin(unknownFields, maxPathText);
  if (schema.definition === undefined) unknownFields.sort();
  else unknownFields.length = Math.min(unknownFields.length, maxUnknownFields);
  return { object: pruned, unknownFields };
}

/** How many of the texts have not more characters than `most` together. */
function countWithin(texts: readonly string[], most: number): number {
  let length = 0;
  for (const [index, text] of texts.entries()) {
    length += text.length;
    if (length > most) return index;
  }
  return texts.length;
}

function prune(value: Json, schema: Schema | undefined, path: string, unknown: string[]): Json {
  if (typeof value !== 'object' || value === null || schema === undefined || isBigInteger(value)) return value;
  return Array.isArray(value) ? pruneList(value, schema, path, unknown) : pruneMap(value, schema, path, unknown);
}

function pruneList(list: Json[], schema: Schema, path: string, unknown: string[]): Json[] {
  const { items } = schema;
  if (!items) return list;
  let copy: Json[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const child = list[index] as Json;
    if (typeof child !== 'object' || child === null) continue;
    const pruned = prune(child, items, `${path}[${index}]`, unknown);
    if (pruned === child) continue;
    copy ??= [...list];
    copy[index] = pruned;
  }
  return copy ?? list;
}

function pruneMap(map: JsonObject, schema: Schema, path: string, unknown: string[]): JsonObject {
  const { properties, additionalProperties, preserveUnknownFields, embeddedResource } = schema;
  // A node that says nothing about its fields takes any (JSON, RawExtension); custom resources say so explicitly.
  const open =
    preserveUnknownFields === true ||
    additionalProperties === true ||
    (properties === undefined && additionalProperties === undefined && schema.type === undefined);
  let copy: JsonObject | undefined;
  for (const key of Object.keys(map)) {
    const child = map[key] as Json;
    const known = properties?.[key];
    if (known === undefined && embeddedResource && resourceFields.has(key)) continue;
    const childSchema = known ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    const childPath = path === '' ? key : `${path}.${key}`;
    if (childSchema === undefined) {
      if (open) continue;
      unknown.push(childPath);
      copy ??= { ...map };
      delete copy[key];
      continue;
    }
    if (typeof child !== 'object' || child === null) continue;
    const pruned = prune(child, childSchema, childPath, unknown);
    if (pruned === child) continue;
    copy ??= { ...map };
    copy[key] = pruned;
  }
  return copy ?? map;
}
