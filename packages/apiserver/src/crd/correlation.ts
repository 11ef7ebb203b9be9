import { asObject } from '../kinds/json-access.ts';
import type { Json } from '../object.ts';
import type { Schema } from '../schema/schema.ts';

/**
 * Finds what an element of a list was before a change; undefined when there was no such element. Elements can be followed only where
 * keys identify them.
 */
export function correlation(schema: Schema, old: unknown): (item: Json) => Json | undefined {
  const keys = schema.listMapKeys;
  if (schema.listType !== 'map' || !keys || !Array.isArray(old)) return () => undefined;
  const nameOf = (item: Json): string => {
    const object = asObject(item);
    return canonical(keys.map((key) => object?.[key] ?? null));
  };
  const byName = new Map<string, Json>();
  // Of several with one name the first counts.
  for (const item of old as Json[]) {
    const name = nameOf(item);
    if (!byName.has(name)) byName.set(name, item);
  }
  return (item) => byName.get(nameOf(item));
}

/** A text that is the same for equal values, whatever the order of their fields. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const object = asObject(value);
  if (!object) return JSON.stringify(value);
  return `{${Object.keys(object)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key]!)}`)
    .join(',')}}`;
}
