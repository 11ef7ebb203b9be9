import { isLargeInteger } from '../json.ts';
import { mutable } from '../mutable.ts';
import type { KubeObject } from '../object.ts';
import type { JsonSchemaProps } from './cluster-types.ts';
import { schemaOf } from './custom-resource-definition.ts';
import type { DefinedKind } from './define-kind.ts';

/** A copy of `object` with the defaults of its schema filled in, as the server does before it validates. */
export function applyDefaults<T extends KubeObject>(kind: DefinedKind, object: T): T {
  const copy = mutable(object) as T;
  fill(copy, schemaOf(kind));
  return copy;
}

function fill(value: unknown, schema: JsonSchemaProps): void {
  if (typeof value !== 'object' || value === null || isLargeInteger(value)) return;
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) fill(item, schema.items);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    // A null that is not allowed counts as absent when there is a default to take its place.
    const absent = fields[name] === undefined || (fields[name] === null && !property.nullable);
    if (absent && property.default !== undefined) fields[name] = mutable(property.default);
    fill(fields[name], property);
  }
  const { additionalProperties } = schema;
  if (typeof additionalProperties !== 'object') return;
  for (const name of Object.keys(fields)) if (!schema.properties?.[name]) fill(fields[name], additionalProperties);
}
