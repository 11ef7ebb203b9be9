import { isJsonObject } from '../big-integer.ts';
import type { Json, JsonObject } from '../object.ts';
import { specialType } from '../schema/go-types.ts';
import type { Schema } from '../schema/schema.ts';
import { keyElement, valueElement } from './path-element.ts';

/**
 * What ownership needs to know of a schema: which shapes a value may take, and whether a map or list is owned as a whole
 * (atomic) or part by part. A node without a type may take several shapes.
 */
export interface FieldType {
  readonly scalar?: 'string' | 'numeric' | 'boolean' | 'untyped';
  readonly map?: MapType;
  readonly list?: ListType;
}

export interface MapType {
  readonly atomic: boolean;
  /** The type of a field the schema names. */
  field(name: string): FieldType | undefined;
  /** The type of all other fields; undefined when there may be none. */
  readonly elementType: FieldType | undefined;
}

export interface ListType {
  readonly relation: 'atomic' | 'set' | 'map';
  readonly elementType: FieldType;
  readonly keys: readonly string[];
  /** The default of a key that an element leaves out. */
  keyDefault(name: string): Json | undefined;
}

/** A list element that has no identity; the message is Go's. */
export class ElementError extends Error {}

const noDefault = (): undefined => undefined;

/** Content without a schema that is owned as a whole. */
const untypedAtomic: FieldType = {
  scalar: 'untyped',
  get list() {
    return { relation: 'atomic' as const, elementType: untypedAtomic, keys: [], keyDefault: noDefault };
  },
  get map() {
    return { atomic: true, field: noDefault, elementType: untypedAtomic };
  },
};

/** Content without a schema: maps are owned field by field, lists as a whole. */
const deduced: FieldType = {
  scalar: 'untyped',
  get list() {
    return { relation: 'atomic' as const, elementType: untypedAtomic, keys: [], keyDefault: noDefault };
  },
  get map() {
    return { atomic: false, field: noDefault, elementType: deduced };
  },
};

const strict = new WeakMap<Schema, FieldType>();
const preserving = new WeakMap<Schema, FieldType>();

/** The type of a schema node. `preserve` says that a node above keeps unknown fields, which its descendants inherit. */
export function fieldTypeOf(schema: Schema, preserve = false): FieldType {
  const keep = preserve || (schema.preserveUnknownFields === true && schema.definition === undefined);
  const cache = keep ? preserving : strict;
  let type = cache.get(schema);
  if (!type) {
    type = makeType(schema, keep);
    cache.set(schema, type);
  }
  return type;
}

const rawExtension = 'io.k8s.apimachinery.pkg.runtime.RawExtension';

function makeType(schema: Schema, preserve: boolean): FieldType {
  if (schema.definition === rawExtension) return untypedAtomic;
  if (specialType(schema) === 'quantity') return { scalar: 'untyped' };
  switch (schema.type) {
    case 'object':
      return { map: mapType(schema, preserve) };
    case 'array':
      return { list: listType(schema, preserve) };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'string':
      return { scalar: schema.format === undefined || schema.format === 'byte' ? 'string' : 'untyped' };
    default:
      return { scalar: 'untyped', map: mapType(schema, preserve), list: listType(schema, preserve) };
  }
}

function mapType(schema: Schema, preserve: boolean): MapType {
  const { properties, additionalProperties } = schema;
  const elementType = (): FieldType | undefined => {
    if (typeof additionalProperties === 'object') return fieldTypeOf(additionalProperties, preserve);
    if (additionalProperties === true) return deduced;
    if (additionalProperties === false) return undefined;
    return preserve || properties === undefined || isEmpty(properties) ? deduced : undefined;
  };
  return {
    atomic: schema.mapType === 'atomic',
    field(name) {
      const field = properties?.[name];
      return field && fieldTypeOf(field, preserve);
    },
    get elementType() {
      return elementType();
    },
  };
}

function isEmpty(properties: object): boolean {
  for (const _ in properties) return false;
  return true;
}

function listType(schema: Schema, preserve: boolean): ListType {
  const { items, listType: declared, patchStrategy = '', patchMergeKey } = schema;
  let relation: ListType['relation'] = declared ?? 'atomic';
  let keys = schema.listMapKeys ?? [];
  if (declared === undefined && (patchStrategy === 'merge' || patchStrategy === 'merge,retainKeys')) {
    // Lists that only say how strategic merge treats them are owned the same way.
    relation = patchMergeKey === undefined ? 'set' : 'map';
    keys = patchMergeKey === undefined ? [] : [patchMergeKey];
  }
  return {
    relation,
    keys,
    get elementType() {
      return items ? fieldTypeOf(items, preserve) : untypedAtomic;
    },
    keyDefault: (name) => items?.properties?.[name]?.default,
  };
}

export function isMap(value: Json | undefined): value is JsonObject {
  return isJsonObject(value);
}

/** How an element of a set or list map is named in paths. Throws {@link ElementError}. */
export function elementOf(list: ListType, item: Json): string {
  if (list.keys.length === 0) {
    if (item === null) throw new ElementError("associative list without keys has an element that's an explicit null");
    if (Array.isArray(item)) throw new ElementError('not supported: associative list with lists as elements');
    if (isMap(item)) {
      throw new ElementError("associative list without keys has an element that's a map type");
    }
    return valueElement(item);
  }
  if (item === null) throw new ElementError('associative list with keys may not have a null element');
  if (!isMap(item)) throw new ElementError('associative list with keys may not have non-map elements');
  const keys: JsonObject = {};
  let found = false;
  for (const name of list.keys) {
    const value = item[name] ?? list.keyDefault(name);
    if (value === undefined) continue;
    keys[name] = value;
    found = true;
  }
  if (!found) {
    const names = list.keys.map((name) => JSON.stringify(name)).join(' ');
    throw new ElementError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(keys);
}

/** Which shape of a type a value takes: `any` when the value is null or fits none. */
export type Shape = 'map' | 'scalar' | 'list' | 'any';

export function shapeOf(type: FieldType, value: Json | undefined): Shape {
  if (value === undefined || value === null) return onlyShape(type);
  if (Array.isArray(value)) return type.list ? 'list' : onlyShape(type);
  if (isMap(value)) return type.map ? 'map' : onlyShape(type);
  return type.scalar ? 'scalar' : onlyShape(type);
}

function onlyShape(type: FieldType): Shape {
  const shapes = (type.map ? 1 : 0) + (type.scalar ? 1 : 0) + (type.list ? 1 : 0);
  if (shapes > 1) return 'any';
  return type.map ? 'map' : type.scalar ? 'scalar' : 'list';
}

/** The shape to treat a value of any shape as. */
export function handledShape(type: FieldType, shape: Shape): 'map' | 'scalar' | 'list' {
  if (shape !== 'any') return shape;
  return type.map ? 'map' : type.scalar ? 'scalar' : 'list';
}
