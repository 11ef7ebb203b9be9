import { isJsonObject } from '../big-integer.ts';
import type { Json, JsonObject } from '../object.ts';

/** A part of a message, ready to be joined with others. */
type Part = Uint8Array;
type Encode = (value: Json) => Part;

const none = new Uint8Array();

/** An OpenAPI v2 document in the protobuf form of gnostic: what kubectl reads kinds and their fields from. */
export function swaggerProtobuf(swagger: JsonObject): Buffer {
  return message(swagger, {
    swagger: [1, text],
    info: [2, (info) => message(info, { title: [1, text], version: [2, text] })],
    paths: [8, (paths) => entries(paths, 2, (name, item) => named(name, pathItem(item)))],
    definitions: [9, (schemas) => entries(schemas, 1, (name, schema) => named(name, schemaOf(schema)))],
  });
}

function schemaOf(schema: Json): Buffer {
  return message(schema, {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, anything],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, count],
    minLength: [12, count],
    pattern: [13, text],
    maxItems: [14, count],
    minItems: [15, count],
    uniqueItems: [16, flag],
    maxProperties: [17, count],
    minProperties: [18, count],
    required: [19, each(text)],
    enum: [20, each(anything)],
    additionalProperties: [21, (value) => (isJsonObject(value) ? field(1, schemaOf(value)) : field(2, flag(value)))],
    type: [22, (type) => field(1, text(type))],
    items: [23, (items) => field(1, schemaOf(items))],
    allOf: [24, each(schemaOf)],
    properties: [25, (properties) => entries(properties, 1, (name, property) => named(name, schemaOf(property)))],
    extensions: [31, anything],
  });
}

function pathItem(item: Json): Buffer {
  return message(item, {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
    parameters: [9, each(parameter)],
    extensions: [10, anything],
  });
}

function operation(value: Json): Buffer {
  return message(value, {
    tags: [1, each(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, each(text)],
    consumes: [7, each(text)],
    parameters: [8, each(parameter)],
    responses: [9, (responses) => entries(responses, 1, (code, answer) => named(code, field(1, response(answer))))],
    schemes: [10, each(text)],
    extensions: [13, anything],
  });
}

function response(value: Json): Buffer {
  return message(value, { description: [1, text], schema: [2, (schema) => field(1, schemaOf(schema))] });
}

const parameterPlaces: Readonly<Record<string, number>> = { header: 1, formData: 2, query: 3, path: 4 };

function parameter(value: Json): Buffer {
  const { in: place } = value as { in?: string };
  if (place === 'body') {
    const body = message(value, {
      description: [1, text],
      name: [2, text],
      in: [3, text],
      required: [4, flag],
      schema: [5, schemaOf],
    });
    return field(1, field(1, body));
  }
  const simple = message(value, {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    // Only parameters of the query and of forms may be empty, which moves the type.
    type: [place === 'query' || place === 'formData' ? 6 : 5, text],
  });
  return field(1, field(2, field(parameterPlaces[place ?? ''] ?? parameterPlaces['query']!, simple)));
}

/** How each field of a JSON object is written; `extensions` stands for all that begin with `x-`. */
type Layout = Readonly<Record<string, readonly [number: number, encode: Encode | ((value: Json) => Part[])]>>;

function message(value: Json, layout: Layout): Buffer {
  const parts: Part[] = [];
  for (const [name, child] of Object.entries(value as JsonObject)) {
    const extension = name.startsWith('x-');
    const known = extension ? layout['extensions'] : layout[name];
    if (!known || (extension && !layout['extensions'])) continue;
    const [number, encode] = known;
    if (extension) parts.push(field(number, named(name, anything(child))));
    else {
      const encoded = encode(child);
      if (Array.isArray(encoded)) parts.push(...encoded.map((one) => field(number, one)));
      else parts.push(scalars.has(encode) ? scalar(number, encoded) : field(number, encoded));
    }
  }
  return Buffer.concat(parts);
}

/** A map as repeated messages of field `number`. */
function entries(value: Json, number: number, entry: (name: string, value: Json) => Part): Buffer {
  return Buffer.concat(Object.entries(value as JsonObject).map(([name, child]) => field(number, entry(name, child))));
}

function each(encode: Encode): (value: Json) => Part[] {
  return (value) => (value as Json[]).map(encode);
}

function named(name: string, value: Part): Buffer {
  return Buffer.concat([field(1, text(name)), field(2, value)]);
}

/** Free values travel as YAML, which JSON is. */
function anything(value: Json): Buffer {
  return field(2, Buffer.from(`${JSON.stringify(value)}\n`));
}

function text(value: Json): Buffer {
  return Buffer.from(String(value));
}

function flag(value: Json): Part {
  return value === true ? varint(1) : none;
}

function count(value: Json): Part {
  return varint(Number(value));
}

function double(value: Json): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(Number(value));
  return bytes;
}

/** Values that are not prefixed by their length. */
const scalars = new Set<unknown>([flag, count, double]);

function scalar(number: number, value: Part): Buffer {
  if (value.length === 0) return Buffer.alloc(0);
  return Buffer.concat([varint(number * 8 + (value.length === 8 ? 1 : 0)), value]);
}

function field(number: number, value: Part): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}
