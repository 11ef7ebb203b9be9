import { bigintOf, numberOf } from '../big-integer.ts';
import { evaluate, type Environment } from '@marcbachmann/cel-js';
import { asObject } from '../kinds/json-access.ts';
import type { Json, JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { escapedName, plainName } from './escaped-name.ts';

const timestampType = 'google.protobuf.Timestamp';
const durationType = 'google.protobuf.Duration';

/** Objects of one schema node, as expressions see them. */
type ObjectClass = new () => Record<string, unknown>;

/** A type of the expression language that stands for a schema node, and how to turn JSON into a value of it. */
export interface CelType {
  readonly name: string;
  /**
   * With `shared`, equal objects become the same value, so that comparing them is comparing references. Expressions that compare
   * nothing go without.
   */
  convert(value: Json, shared: SharedValues | undefined): unknown;
}

/** Values already made during one evaluation, by type and canonical text. */
export type SharedValues = Map<string, unknown>;

/** Makes types for schemas and registers them with one environment. */
export class TypeRegistry {
  readonly #environment: Environment;
  readonly #known = new Map<Schema, CelType>();
  #count = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  typeOf(schema: Schema): CelType {
    const known = this.#known.get(schema);
    if (known) return known;
    const made = this.#make(schema);
    this.#known.set(schema, made);
    return made;
  }

  #make(schema: Schema): CelType {
    if (schema.nullable || schema.intOrString) return dynamic;
    switch (schema.type) {
      case 'boolean':
        return { name: 'bool', convert: (value) => value };
      case 'integer':
        return { name: 'int', convert: wholeNumber };
      case 'number':
        return { name: 'double', convert: (value) => numberOf(value) ?? value };
      case 'string':
        return stringType(schema.format);
      case 'array':
        return this.#list(schema);
      case 'object':
        return this.#object(schema);
      default:
        return dynamic;
    }
  }

  #list(schema: Schema): CelType {
    if (!schema.items) return dynamic;
    const item = this.typeOf(schema.items);
    return {
      name: item === dynamic ? 'list' : `list<${item.name}>`,
      convert: (value, shared) => (Array.isArray(value) ? value.map((entry) => item.convert(entry, shared)) : value),
    };
  }

  #object(schema: Schema): CelType {
    if (typeof schema.additionalProperties === 'object' && !schema.properties) {
      const member = this.typeOf(schema.additionalProperties);
      return {
        name: member === dynamic ? 'map<string, dyn>' : `map<string, ${member.name}>`,
        convert: (value, shared) =>
          new Map(Object.entries(asObject(value) ?? {}).map(([key, entry]) => [key, member.convert(entry, shared)])),
      };
    }
    const head = schema.embeddedResource ? headProperties : {};
    const properties = { ...schema.properties, ...head };
    if (Object.keys(properties).length === 0) return dynamic;
    return this.#class(properties);
  }

  #class(properties: Readonly<Record<string, Schema>>): CelType {
    const name = `Object${++this.#count}`;
    const fields: Record<string, string> = {};
    const members: { source: string; field: string; type: CelType }[] = [];
    for (const [source, property] of Object.entries(properties)) {
      const type = this.typeOf(property);
      for (const field of [escapedName(source), plainName(source)]) {
        if (field === undefined) continue;
        fields[field] = type.name;
        members.push({ source, field, type });
      }
    }
    const objectClass: ObjectClass = class {} as ObjectClass;
    this.#environment.registerType(name, { ctor: objectClass, fields });
    for (const other of [name, 'null'])
      this.#environment.registerOperator(`${name} == ${other}`, (left: unknown, right: unknown) => left === right);
    return {
      name,
      convert(value, shared) {
        const object = asObject(value);
        if (!object) return value;
        const key = shared ? `${name}${canonical(object)}` : '';
        const known = shared?.get(key);
        if (known !== undefined) return known;
        const result = new objectClass();
        for (const { source, field, type } of members) {
          const member = object[source];
          if (member !== undefined) result[field] = type.convert(member, shared);
        }
        shared?.set(key, result);
        return result;
      },
    };
  }
}

const text: Schema = { type: 'string' };
const headProperties: Readonly<Record<string, Schema>> = {
  apiVersion: text,
  kind: text,
  metadata: { type: 'object', properties: { name: text, generateName: text } },
};

function stringType(format: string | undefined): CelType {
  switch (format) {
    case 'date-time':
    case 'datetime':
    case 'date':
      return { name: timestampType, convert: (value) => new Date(String(value)) };
    case 'duration':
      return { name: durationType, convert: (value) => evaluate('duration(text)', { text: value }) as unknown };
    case 'byte':
      return { name: 'bytes', convert: (value) => Uint8Array.from(Buffer.from(String(value), 'base64')) };
    default:
      return { name: 'string', convert: (value) => value };
  }
}

function wholeNumber(value: Json): unknown {
  return bigintOf(value) ?? value;
}

/** Anything: whole numbers become integers, objects become maps. */
export const dynamic: CelType = { name: 'dyn', convert: (value) => dynamicValue(value) };

export function dynamicValue(value: unknown): unknown {
  const integer = bigintOf(value);
  if (integer !== undefined) return integer;
  if (Array.isArray(value)) return value.map(dynamicValue);
  const object = asObject(value);
  if (!object) return value ?? null;
  return new Map(Object.entries(object).map(([key, entry]) => [key, dynamicValue(entry)]));
}

/** The same text for equal values, whatever the order of keys. */
function canonical(value: Json | JsonObject): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const object = asObject(value);
  if (!object) return JSON.stringify(value);
  return `{${Object.keys(object)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key]!)}`)
    .join(',')}}`;
}
