import type { ApiObject, Json, JsonObject } from '../object.ts';
import { asObject, asObjects, asText } from '../kinds/json-access.ts';

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
const apiVersionDescription = `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`;
const kindDescription = `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`;
const meta = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1';

/** The name of a kind's definition: the group reversed, then version and kind, as in `com.example.v1.Widget`. */
export function definitionName(group: string, version: string, kind: string): string {
  return `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
}

/** The definitions OpenAPI v3 serves for one CRD version: the kind and its list. */
export function openApiDefinitions(crd: ApiObject, version: JsonObject): Record<string, JsonObject> {
  const spec = asObject(crd['spec']) ?? {};
  const names = asObject(spec['names']) ?? {};
  const group = asText(spec['group']);
  const name = asText(version['name']);
  const kind = asText(names['kind']);
  const listKind = asText(names['listKind']) || `${kind}List`;
  const definition = definitionName(group, name, kind);
  const source = asObject(asObject(version['schema'])?.['openAPIV3Schema']) ?? {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  };
  const selectable = asObjects(version['selectableFields']).map((field) => ({
    fieldPath: asText(field['jsonPath']).replace(/^\./, ''),
  }));
  const extensions = (extendedKind: string): JsonObject => ({
    'x-kubernetes-group-version-kind': [{ group, kind: extendedKind, version: name }],
    ...(selectable.length > 0 ? { 'x-kubernetes-selectable-fields': selectable } : {}),
  });
  const object = served(source);
  return {
    [definition]: {
      ...object,
      properties: {
        ...asObject(object['properties']),
        apiVersion: { description: apiVersionDescription, type: 'string' },
        kind: { description: kindDescription, type: 'string' },
        metadata: {
          description: `Standard object's metadata. More info: ${conventions}#metadata`,
          allOf: [{ $ref: `${meta}.ObjectMeta` }],
        },
      },
      ...extensions(kind),
    },
    [definitionName(group, name, listKind)]: {
      description: `${listKind} is a list of ${kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { description: apiVersionDescription, type: 'string' },
        items: {
          description: `List of ${asText(names['plural'])}. More info: ${conventions}`,
          type: 'array',
          items: { $ref: `#/components/schemas/${definition}` },
        },
        kind: { description: kindDescription, type: 'string' },
        metadata: {
          description: `Standard list metadata. More info: ${conventions}#types-kinds`,
          allOf: [{ $ref: `${meta}.ListMeta` }],
        },
      },
      ...extensions(listKind),
    },
  };
}

/** A schema as it is published: the same, but int-or-string values say what they may be and embedded objects carry their head. */
function served(schema: JsonObject): JsonObject {
  const result: JsonObject = { ...schema };
  const properties = asObject(schema['properties']);
  if (properties) {
    result['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, served(asObject(property) ?? {})]),
    );
  }
  for (const keyword of ['items', 'additionalProperties'] as const) {
    const nested = asObject(schema[keyword]);
    if (nested) result[keyword] = served(nested);
  }
  if (schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined && schema['allOf'] === undefined) {
    result['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
  }
  if (schema['x-kubernetes-embedded-resource'] === true) {
    result['properties'] = {
      ...asObject(result['properties']),
      apiVersion: { description: apiVersionDescription, type: 'string' },
      kind: { description: kindDescription, type: 'string' },
      metadata: {
        description: `Standard object's metadata. More info: ${conventions}#metadata`,
        allOf: [{ $ref: `${meta}.ObjectMeta` }],
      },
    };
    result['required'] = ['apiVersion', 'kind', ...((schema['required'] as Json[] | undefined) ?? [])];
  }
  return result;
}
