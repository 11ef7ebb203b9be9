import type { Json, JsonObject } from '../object.ts';

/** An OpenAPI v2 document out of v3 paths and schemas; only what old clients read of it. */
export function swaggerOf(paths: JsonObject, schemas: JsonObject, version: string): JsonObject {
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version },
    paths: Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, pathItem(item as JsonObject)])),
    definitions: relinked(schemas) as JsonObject,
    securityDefinitions: {
      BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
    },
    security: [{ BearerToken: [] }],
  };
}

function pathItem(item: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(item)) {
    result[key] = key === 'parameters' ? parameters(value as JsonObject[]) : operation(value as JsonObject);
  }
  return result;
}

function operation(source: JsonObject): JsonObject {
  const { requestBody, responses, parameters: given, ...rest } = source;
  const body = requestBody as { content: Record<string, { schema: Json }>; required?: boolean } | undefined;
  const schema = body && Object.values(body.content)[0]?.schema;
  return {
    ...rest,
    consumes: body ? Object.keys(body.content) : ['*/*'],
    produces: ['application/json', 'application/yaml'],
    schemes: ['https'],
    parameters: [
      ...(schema ? [{ name: 'body', in: 'body', required: body.required === true, schema: relinked(schema) }] : []),
      ...parameters((given ?? []) as JsonObject[]),
    ],
    responses: Object.fromEntries(
      Object.entries(responses as Record<string, JsonObject>).map(([code, response]) => [code, answer(response)]),
    ),
  };
}

function answer({ description, content }: JsonObject): JsonObject {
  const [first] = Object.values((content ?? {}) as Record<string, { schema: Json }>);
  return { description: description ?? '', ...(first ? { schema: relinked(first.schema) } : {}) };
}

function parameters(list: readonly JsonObject[]): JsonObject[] {
  return list.map(({ schema, ...rest }) => ({ ...rest, ...(schema as JsonObject) }));
}

/** v2 keeps schemas under another name and allows siblings of a reference. */
function relinked(value: Json): Json {
  if (Array.isArray(value)) return value.map(relinked);
  if (value === null || typeof value !== 'object') return value;
  const result: JsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string')
      result[key] = child.replace('#/components/schemas/', '#/definitions/');
    else if (key === 'allOf' && Array.isArray(child) && child.length === 1) Object.assign(result, relinked(child[0]!));
    else if (key !== 'oneOf' && key !== 'anyOf' && key !== 'nullable') result[key] = relinked(child);
  }
  return result;
}
