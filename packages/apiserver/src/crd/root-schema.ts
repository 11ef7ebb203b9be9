import type { JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { asObject } from '../kinds/json-access.ts';
import { metadataSchema } from './metadata-schema.ts';
import { schemaOfCrd } from './schema-of-crd.ts';

/**
 * The schema of whole objects of one CRD version: what the CRD says, with `apiVersion`, `kind` and `metadata` as every object has
 * them. Restrictions a CRD puts on `metadata.name` or `generateName` are kept apart by {@link metadataRestrictions}.
 */
export function rootSchema(version: JsonObject): Schema {
  const source = asObject(asObject(version['schema'])?.['openAPIV3Schema']);
  if (!source) return { type: 'object', preserveUnknownFields: true, properties: typeAndMetadata() };
  const schema = schemaOfCrd(source);
  // No prototype: a field called `constructor` is unknown unless the CRD declares it.
  const properties = Object.assign(Object.create(null) as Record<string, Schema>, schema.properties, typeAndMetadata());
  return { ...schema, properties };
}

/** What the CRD itself says about `metadata`: it may restrict the name. */
export function metadataRestrictions(version: JsonObject): Schema | undefined {
  const source = asObject(asObject(version['schema'])?.['openAPIV3Schema']);
  const metadata = asObject(asObject(source?.['properties'])?.['metadata']);
  return metadata && schemaOfCrd(metadata);
}

function typeAndMetadata(): Record<string, Schema> {
  return { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: metadataSchema() };
}
