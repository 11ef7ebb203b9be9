import { isJsonObject } from '../big-integer.ts';
import type { Schema, ValidationRule } from './schema.ts';

/** A schema node as OpenAPI v3 or a CRD writes it. */
export interface OpenApiNode {
  readonly [key: string]: unknown;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const plainKeys = [
  'type',
  'format',
  'description',
  'required',
  'nullable',
  'default',
  'enum',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const satisfies readonly (keyof Schema)[];

const renamedKeys: readonly (readonly [string, keyof Schema])[] = [
  ['z', 'zero'],
  ['p', 'pointer'],
  ['t', 'goType'],
  ['i', 'inlinedFrom'],
  ['x-kubernetes-list-type', 'listType'],
  ['x-kubernetes-list-map-keys', 'listMapKeys'],
  ['x-kubernetes-map-type', 'mapType'],
  ['x-kubernetes-patch-strategy', 'patchStrategy'],
  ['x-kubernetes-patch-merge-key', 'patchMergeKey'],
  ['x-kubernetes-preserve-unknown-fields', 'preserveUnknownFields'],
  ['x-kubernetes-int-or-string', 'intOrString'],
  ['x-kubernetes-embedded-resource', 'embeddedResource'],
];

/** Go types that take any JSON; OpenAPI shows them as objects without properties. */
const freeFormDefinitions = new Set([
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Patch',
  'io.k8s.apimachinery.pkg.runtime.RawExtension',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus',
]);

/**
 * Turns an OpenAPI node into a {@link Schema}. Children are made on first use, so recursive definitions are fine.
 * `resolve` answers references by definition name.
 */
export function schemaFromOpenApi(
  node: OpenApiNode,
  resolve: (definition: string) => Schema,
  definition?: string,
): Schema {
  const reference = node['$ref'];
  if (typeof reference === 'string' && definition === undefined) {
    const target = resolve(reference.slice(reference.lastIndexOf('/') + 1));
    const own = plainSchema(node);
    return Object.keys(own).length === 0 ? target : derive(target, own);
  }
  const schema = plainSchema(node);
  if (definition !== undefined) schema.definition = definition;
  if (schema.format === 'int-or-string') schema.intOrString = true;
  if (isFreeForm(node, definition)) schema.preserveUnknownFields = true;

  const child = (value: unknown): Schema => schemaFromOpenApi(value as OpenApiNode, resolve);
  const { properties, items, additionalProperties, not } = node;
  if (isNode(properties)) {
    lazily(schema, 'properties', () => {
      const result: Record<string, Schema> = Object.create(null) as Record<string, Schema>;
      for (const [name, value] of Object.entries(properties)) lazily(result, name, () => child(value));
      return result;
    });
  }
  if (isNode(items)) lazily(schema, 'items', () => child(items));
  if (isNode(additionalProperties)) lazily(schema, 'additionalProperties', () => child(additionalProperties));
  else if (typeof additionalProperties === 'boolean') schema.additionalProperties = additionalProperties;
  if (isNode(not)) lazily(schema, 'not', () => child(not));
  for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
    const list = node[key];
    if (Array.isArray(list)) lazily(schema, key, () => list.map(child));
  }
  return schema;
}

function plainSchema(node: OpenApiNode): Mutable<Schema> {
  const schema: Record<string, unknown> = {};
  for (const key of plainKeys) if (node[key] !== undefined) schema[key] = node[key];
  for (const [from, to] of renamedKeys) if (node[from] !== undefined) schema[to] = node[from];
  const rules = node['x-kubernetes-validations'];
  if (Array.isArray(rules)) schema['validations'] = rules as ValidationRule[];
  return schema;
}

function isFreeForm(node: OpenApiNode, definition: string | undefined): boolean {
  if (definition === undefined) return false;
  if (freeFormDefinitions.has(definition)) return true;
  return node['type'] === undefined && node['oneOf'] === undefined && node['properties'] === undefined;
}

function isNode(value: unknown): value is OpenApiNode {
  return isJsonObject(value);
}

/** A reference with siblings: everything of the target, except what the siblings say. */
function derive(target: Schema, own: Mutable<Schema>): Schema {
  const schema: Mutable<Schema> = {};
  for (const key of Object.keys(target) as (keyof Schema)[]) {
    const descriptor = Object.getOwnPropertyDescriptor(target, key);
    if (descriptor?.get) lazily(schema, key, () => target[key]);
    else Object.assign(schema, { [key]: target[key] });
  }
  return Object.assign(schema, own);
}

function lazily<T extends object>(target: T, key: string, compute: () => unknown): void {
  Object.defineProperty(target, key, {
    configurable: true,
    enumerable: true,
    get() {
      const value = compute();
      Object.defineProperty(target, key, { value, enumerable: true, writable: false, configurable: true });
      return value;
    },
  });
}
