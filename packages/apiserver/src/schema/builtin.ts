import { kinds, packedDefinitions } from '../generated/schemas.ts';
import { type OpenApiNode, schemaFromOpenApi } from './from-openapi.ts';
import { locateDefinition, unpack } from './packed-data.ts';
import type { Schema } from './schema.ts';

const chunks = new Map<string, Readonly<Record<string, OpenApiNode>>>();
const schemas = new Map<string, Schema>();

/** The compact OpenAPI node of a built-in definition: references by bare name, no descriptions. */
export function builtinNode(definition: string): OpenApiNode | undefined {
  const { chunk, name } = locateDefinition(definition);
  let nodes = chunks.get(chunk);
  if (!nodes) {
    const packed = (packedDefinitions as Readonly<Record<string, string>>)[chunk];
    if (packed === undefined) return undefined;
    nodes = unpack(packed) as Readonly<Record<string, OpenApiNode>>;
    chunks.set(chunk, nodes);
  }
  return Object.hasOwn(nodes, name) ? nodes[name] : undefined;
}

/** The schema of a definition such as `io.k8s.api.core.v1.PodSpec`. */
export function builtinDefinition(definition: string): Schema | undefined {
  let schema = schemas.get(definition);
  if (!schema) {
    const node = builtinNode(definition);
    if (!node) return undefined;
    schema = schemaFromOpenApi(node, requireDefinition, definition);
    schemas.set(definition, schema);
  }
  return schema;
}

function requireDefinition(definition: string): Schema {
  const schema = builtinDefinition(definition);
  if (!schema) throw new Error(`generated schema data lack ${definition}`);
  return schema;
}

/** The definition name of a built-in kind, such as `io.k8s.api.apps.v1.Deployment`. */
export function builtinDefinitionName(group: string, version: string, kind: string): string | undefined {
  return (kinds as Readonly<Record<string, string>>)[`${group}/${version}/${kind}`];
}

/** The schema of a built-in kind; the core group is `''`. */
export function builtinSchema(group: string, version: string, kind: string): Schema | undefined {
  const definition = builtinDefinitionName(group, version, kind);
  return definition === undefined ? undefined : builtinDefinition(definition);
}
