import { bigintOf, isBigInteger, isJsonObject, numberOf } from '../big-integer.ts';
import type { Json, JsonObject } from '../object.ts';
import { parseQuantity } from '../quantity.ts';
import { goKind, goTypeName, specialType, structName } from './go-types.ts';
import { explainTimeError } from './go-time.ts';
import type { Schema } from './schema.ts';

/** A value of the wrong type; the message is the one Go's JSON decoder gives. */
export class GoTypeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GoTypeError';
  }
}

interface Context {
  /** The innermost Go struct. */
  struct: string;
  /** The names of the fields from the root. */
  field: string;
}

/** Checks that a built-in object can be read into its Go struct. Throws {@link GoTypeError} for the first value that cannot. */
export function checkTypes(object: unknown, schema: Schema, kind: string): void {
  check(object as Json, schema, { struct: kind, field: '' });
}

function check(value: Json, schema: Schema, context: Context): void {
  if (value === null || value === undefined) return;
  const special = specialType(schema);
  if (special !== undefined) return checkSpecial(value, special, context);
  if (schema.intOrString) {
    if (typeof value === 'string') return;
    return checkNumber(value, { type: 'integer', format: 'int32' }, context);
  }
  switch (schema.type) {
    case 'object':
      if (!isJsonObject(value)) {
        if (schema.preserveUnknownFields) return;
        return mismatch(value, schema, context);
      }
      return checkMap(value, schema, context);
    case 'array':
      if (!Array.isArray(value)) return mismatch(value, schema, context);
      if (schema.items) {
        // A list of a named scalar type carries the name itself.
        const { items, goType } = schema;
        const typed = goType !== undefined && items.goType === undefined ? { ...items, goType } : items;
        for (const item of value) check(item, typed, context);
      }
      return;
    case 'string':
      if (typeof value !== 'string') return mismatch(value, schema, context);
      if (schema.format === 'byte') checkBase64(value);
      return;
    case 'boolean':
      if (typeof value !== 'boolean') mismatch(value, schema, context);
      return;
    case 'integer':
    case 'number':
      return checkNumber(value, schema, context);
    default:
  }
}

function checkMap(value: JsonObject, schema: Schema, context: Context): void {
  const { properties, additionalProperties } = schema;
  const struct = schema.definition === undefined ? context.struct : structName(schema.definition);
  for (const key of Object.keys(value)) {
    const child = value[key] as Json;
    const known = properties?.[key];
    if (known) {
      const name = known.inlinedFrom === undefined ? key : `${known.inlinedFrom}.${key}`;
      check(child, known, { struct, field: context.field === '' ? name : `${context.field}.${name}` });
    } else if (typeof additionalProperties === 'object') check(child, additionalProperties, context);
  }
}

const integerBits: Readonly<Record<string, number>> = { int32: 32, int64: 64 };

function checkNumber(value: Json, schema: Schema, context: Context): void {
  const number = numberOf(value);
  if (number === undefined) return mismatch(value, schema, context);
  if (schema.type === 'number') return;
  const integer = bigintOf(value);
  const bits = integerBits[schema.format ?? 'int32'] ?? 64;
  if (integer === undefined || BigInt.asIntN(bits, integer) !== integer) {
    mismatch(value, schema, context, `number ${integer ?? number}`);
  }
}

function checkSpecial(value: Json, special: NonNullable<ReturnType<typeof specialType>>, context: Context): void {
  if (special === 'quantity') {
    if (isBigInteger(value)) parseSpecial(() => parseQuantity(value.rawJSON));
    else if (typeof value === 'number' || typeof value === 'string')
      parseSpecial(() => parseQuantity(String(value).trim()));
    else parseSpecial(() => parseQuantity(JSON.stringify(value)));
    return;
  }
  if (typeof value !== 'string') return mismatch(value, { type: 'string' }, context);
  if (special === 'duration') {
    if (!/^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(value)) {
      throw new GoTypeError(`time: invalid duration ${JSON.stringify(value)}`);
    }
    return;
  }
  const problem = explainTimeError(value, special);
  if (problem !== undefined) throw new GoTypeError(problem);
}

function parseSpecial(parse: () => unknown): void {
  try {
    parse();
  } catch (error) {
    throw new GoTypeError((error as Error).message);
  }
}

function checkBase64(text: string): void {
  const plain = text.replaceAll(/[\r\n]/g, '');
  const match = /^[A-Za-z0-9+/]*/.exec(plain)?.[0].length ?? 0;
  const rest = plain.slice(match);
  if (
    (match + rest.length) % 4 === 0 &&
    (rest === '' || (rest === '=' && match % 4 === 3) || (rest === '==' && match % 4 === 2))
  ) {
    return;
  }
  throw new GoTypeError(`illegal base64 data at input byte ${rest === '' ? plain.length - (plain.length % 4) : match}`);
}

function mismatch(value: Json, schema: Schema, context: Context, described = goKind(value)): never {
  const type = goTypeName(schema);
  const where = context.field === '' ? 'Go value' : `Go struct field ${context.struct}.${context.field}`;
  throw new GoTypeError(`json: cannot unmarshal ${described} into ${where} of type ${type}`);
}
