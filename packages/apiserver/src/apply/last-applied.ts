import { parseExactly } from '../big-integer.ts';
import type { ApiObject, Json, JsonObject } from '../object.ts';
import { compareValues } from './compare-values.ts';
import type { FieldSet } from './field-set.ts';
import { type FieldType, isMap } from './field-type.ts';
import { fieldSetOf, validateValue } from './typed-value.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const maxAnnotationBytes = 256 * 1024;

function annotationOf(object: { metadata?: unknown }): string | undefined {
  const metadata = object.metadata as { annotations?: Record<string, string> } | undefined;
  return metadata?.annotations?.[annotation] || undefined;
}

/** The fields of the client-side applied configuration that still are as they were; undefined when there is none to go by. */
export function unchangedSinceLastApplied(live: JsonObject, type: FieldType, apiVersion: string): FieldSet | undefined {
  const text = annotationOf(live);
  if (text === undefined) return undefined;
  try {
    const applied = parseExactly(text);
    if (!isMap(applied) || applied['apiVersion'] !== apiVersion) return undefined;
    validateValue(applied, type, { allowDuplicates: false });
    const { added, modified, removed } = compareValues(applied, live, type);
    return fieldSetOf(applied, type).difference(modified).difference(added).difference(removed);
  } catch {
    return undefined;
  }
}

/** Keeps the annotation of a client-side applied object in step, so that people may go back to client-side apply. */
export function keepLastApplied(object: ApiObject, config: ApiObject): ApiObject {
  if (annotationOf(object) === undefined) return object;
  const { [annotation]: _, ...annotations } = config.metadata.annotations ?? {};
  const { annotations: given, ...rest } = config.metadata;
  const metadata = given === undefined ? rest : { ...rest, annotations };
  const text = `${JSON.stringify(sorted({ ...config, metadata } as unknown as JsonObject))}\n`;
  const next: Record<string, string> = { ...object.metadata.annotations, [annotation]: text };
  let bytes = 0;
  for (const [key, value] of Object.entries(next)) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (bytes > maxAnnotationBytes) delete next[annotation];
  return { ...object, metadata: { ...object.metadata, annotations: next } };
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key] as Json)]),
  );
}
