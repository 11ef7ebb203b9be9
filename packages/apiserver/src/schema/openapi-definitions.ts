import { documentRoots } from '../generated/schemas.ts';
import type { JsonObject } from '../object.ts';
import { builtinNode } from './builtin.ts';
import type { OpenApiNode } from './from-openapi.ts';
import { locateDefinition, unpack } from './packed-data.ts';

const refPrefix = '#/components/schemas/';
/** What the generator adds to served nodes. */
const goKeys = new Set(['z', 'p', 't', 'i']);
type Descriptions = Readonly<Record<string, readonly [string, Readonly<Record<string, string>>]>>;

/** Paths of the built-in OpenAPI v3 documents, such as `api/v1`, `apis/apps/v1`, `version`. */
export function builtinDocumentPaths(): string[] {
  return Object.keys(documentRoots);
}

/** `components.schemas` of a built-in OpenAPI v3 document as the real server serves it; undefined for an unknown path. */
export async function builtinComponents(path: string): Promise<JsonObject | undefined> {
  const roots = (documentRoots as Readonly<Record<string, readonly string[]>>)[path];
  if (!roots) return undefined;
  const components = await definitionsWithReferences(roots);
  const [, group = '', version = ''] = /^apis\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  for (const kind of ['DeleteOptions', 'WatchEvent']) {
    // These two belong to every group; each document names only the core group and its own.
    const node = components[`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`] as JsonObject | undefined;
    if (!node) continue;
    const kinds = [{ group: '', kind, version: 'v1' }];
    if (group) kinds.push({ group, kind, version });
    node['x-kubernetes-group-version-kind'] = kinds;
  }
  return components;
}

/** Served OpenAPI v3 nodes of `definitions` and all they refer to, with descriptions, sorted by name. */
export async function definitionsWithReferences(definitions: readonly string[]): Promise<JsonObject> {
  const { packedDescriptions } = await import('../generated/descriptions.ts');
  const texts = new Map<string, Descriptions>();
  const textsOf = (chunk: string): Descriptions => {
    let found = texts.get(chunk);
    if (!found) {
      const packed = (packedDescriptions as Readonly<Record<string, string>>)[chunk];
      found = packed === undefined ? {} : (unpack(packed) as Descriptions);
      texts.set(chunk, found);
    }
    return found;
  };

  const served = new Map<string, JsonObject>();
  const queue = [...definitions];
  for (let definition = queue.pop(); definition !== undefined; definition = queue.pop()) {
    if (served.has(definition)) continue;
    const node = builtinNode(definition);
    if (!node) continue;
    const { chunk, name } = locateDefinition(definition);
    const [text, properties] = textsOf(chunk)[name] ?? ['', {}];
    const result = servedNode(node, queue);
    if (text) result['description'] = text;
    for (const [key, description] of Object.entries(properties)) {
      const property = (result['properties'] as Record<string, JsonObject> | undefined)?.[key];
      if (!property) continue;
      wrapReference(property);
      property['description'] = description;
    }
    served.set(definition, result);
  }
  return Object.fromEntries([...served].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function servedNode(node: OpenApiNode, queue: string[]): JsonObject {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (goKeys.has(key)) continue;
    if (key === '$ref') {
      queue.push(String(value));
      result['$ref'] = `${refPrefix}${value}`;
    } else if (key === 'properties') {
      const children = Object.entries(value as Record<string, OpenApiNode>).toSorted(([a], [b]) => (a < b ? -1 : 1));
      result[key] = Object.fromEntries(children.map(([name, child]) => [name, servedNode(child, queue)]));
    } else if ((key === 'items' || key === 'additionalProperties') && typeof value === 'object' && value !== null) {
      result[key] = servedNode(value as OpenApiNode, queue);
    } else result[key] = value;
  }
  if (Object.keys(result).length > 1) wrapReference(result);
  return result as JsonObject;
}

/** OpenAPI ignores what stands beside a reference, hence the wrapping the real server does too. */
function wrapReference(node: Record<string, unknown>): void {
  if (typeof node['$ref'] !== 'string') return;
  node['allOf'] = [{ $ref: node['$ref'] }];
  delete node['$ref'];
}
