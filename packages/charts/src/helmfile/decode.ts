import { isMap, typeOf, type GoMap, type Value } from '../go/values.ts';
import { PlainScalar, readAllYaml, YamlError } from '../yaml/read.ts';
import { HelmfileError } from './helmfile-error.ts';
import { stateFields, type Field, type Fields } from './state-schema.ts';
import { helmfileYaml } from './timestamp.ts';

/** A group of keys, decoded: texts are strings, numbers `bigint`, lists arrays, groups maps. Keys that are null are absent. */
export type Spec = Map<string, Value>;

/**
 * Reads a rendered part of a state: every document of it, checked against the keys helmfile knows.
 *
 * @param counted what the lines of the text are counted in, for messages
 */
export function decodeState(text: string, file: string, counted = file): Spec[] {
  let documents: Value[];
  try {
    documents = readAllYaml(text, { ...helmfileYaml, keepText: true });
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new HelmfileError('InvalidState', `${counted}: ${error.message}`, {
      cause: error,
      ...(mayBeTemplate(text, file)
        ? { hint: 'a state with template expressions needs a name ending in .gotmpl' }
        : {}),
    });
  }
  return documents
    .filter((document) => !isNothing(document))
    .map((document) => decodeStruct(document, stateFields, { file, path: '' }));
}

function mayBeTemplate(text: string, file: string): boolean {
  return text.includes('{{') && !file.endsWith('.gotmpl');
}

interface Place {
  readonly file: string;
  readonly path: string;
}

function decodeStruct(value: Value, fields: Fields, place: Place): Spec {
  if (!isMap(value)) throw wrongType(value, 'a mapping', place);
  const spec: Spec = new Map();
  for (const [key, item] of value) {
    const at = { file: place.file, path: place.path === '' ? key : `${place.path}.${key}` };
    const field = Object.hasOwn(fields, key) ? fields[key]! : undefined;
    if (!field) throw new HelmfileError('InvalidState', `${at.file}: unknown key ${at.path}`);
    if (field.type === 'refused') {
      if (isUnset(item)) continue;
      throw new HelmfileError('Unsupported', `${at.file}: ${at.path} is not supported`);
    }
    if (isNothing(item)) continue;
    spec.set(key, decodeField(item, field, at));
  }
  return spec;
}

/** Null, false, zero and empty lists ask for nothing. */
function isUnset(value: Value): boolean {
  const plain = meaningOf(value);
  return (
    plain === null || plain === false || plain === 0n || plain === '' || (Array.isArray(plain) && plain.length === 0)
  );
}

function decodeField(value: Value, field: Field, place: Place): Value {
  switch (field.type) {
    case 'string':
      return decodeText(value, place);
    case 'bool': {
      const plain = meaningOf(value);
      const flag = typeof plain === 'string' ? oldFlags.get(plain) : plain;
      if (typeof flag !== 'boolean') throw wrongType(value, 'true or false', place);
      return flag;
    }
    case 'int': {
      const read = meaningOf(value);
      const plain = typeof read === 'number' && Number.isSafeInteger(read) ? BigInt(read) : read;
      if (typeof plain !== 'bigint') throw wrongType(value, 'a whole number', place);
      return plain;
    }
    case 'strings':
      return items(value, place).map(([item, at]) => decodeText(item, at));
    case 'labels':
      return new Map(entries(value, place).map(([key, item, at]) => [key, decodeText(item, at)]));
    case 'values':
      return items(value, place).map(([item, at]) => {
        const plain = meaningOf(item);
        if (typeof plain !== 'string' && !isMap(plain)) throw wrongType(item, 'a path or a mapping', at);
        return plain;
      });
    case 'struct':
      return decodeStruct(value, field.fields!, place);
    case 'structs':
      return items(value, place).map(([item, at]) => {
        if (field.short !== undefined && typeof item === 'string') return new Map([[field.short, item]]);
        return decodeStruct(item, field.fields!, at);
      });
    case 'named':
      return new Map(
        entries(value, place).map(([key, item, at]) => [
          key,
          isNothing(item) ? new Map() : decodeStruct(item, field.fields!, at),
        ]),
      );
    case 'refused':
      return null;
  }
}

/** To go-yaml v3 these are texts, and yet it takes them where a flag is wanted. */
export const oldFlags: ReadonlyMap<string, boolean> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'].map((text) => [text, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF'].map((text) => [text, false] as const),
]);

function items(value: Value, { file, path }: Place): [Value, Place][] {
  if (!Array.isArray(value)) throw wrongType(value, 'a list', { file, path });
  return value.map((item, index) => [item, { file, path: `${path}[${index}]` }]);
}

function entries(value: Value, { file, path }: Place): [string, Value, Place][] {
  if (!isMap(value)) throw wrongType(value, 'a mapping', { file, path });
  return [...value].map(([key, item]) => [key, item, { file, path: `${path}.${key}` }]);
}

/** A text is what was written, be it a number to others. */
function decodeText(value: Value, place: Place): string {
  const scalar = value as unknown;
  if (scalar instanceof PlainScalar) return scalar.value === null ? '' : scalar.text;
  if (typeof value !== 'string') throw wrongType(value, 'a text', place);
  return value;
}

function isNothing(value: Value): boolean {
  const scalar = value as unknown;
  return value === null || value === undefined || (scalar instanceof PlainScalar && scalar.value === null);
}

/** The value without the text it was written as. */
function meaningOf(value: Value): Value {
  const scalar = value as unknown;
  if (scalar instanceof PlainScalar) return scalar.value;
  if (Array.isArray(value)) return value.map(meaningOf);
  if (isMap(value)) return new Map([...value].map(([key, item]) => [key, meaningOf(item)])) as GoMap;
  return value ?? null;
}

const typeNames: Readonly<Record<string, string>> = {
  'map[string]interface {}': 'a mapping',
  '[]interface {}': 'a list',
  string: 'a text',
  bool: 'true or false',
  int: 'a number',
  float64: 'a number',
  '<nil>': 'nothing',
};

function wrongType(value: Value, wanted: string, { file, path }: Place): HelmfileError {
  const type = typeOf(meaningOf(value));
  return new HelmfileError(
    'InvalidState',
    `${file}: ${path === '' ? 'the state' : path} must be ${wanted}, but is ${typeNames[type] ?? type}`,
  );
}
