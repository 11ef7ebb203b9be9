import { isBigInteger } from '../big-integer.ts';
import type { Json, JsonObject } from '../object.ts';
import { getOwn, setOwn } from '../own-property.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import {
  ElementError,
  type FieldType,
  type ListType,
  type MapType,
  elementOf,
  handledShape,
  isMap,
  shapeOf,
} from './field-type.ts';
import { fieldElement, printElement } from './path-element.ts';

/** A value that does not fit its type; the message is Go's. */
export class TypedValueError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? problems[0] : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.name = 'TypedValueError';
  }
}

/** Throws {@link TypedValueError} when a value does not fit its type. */
export function validateValue(value: Json, type: FieldType, options: { allowDuplicates: boolean }): void {
  const problems: string[] = [];
  validate(value, type, '', options.allowDuplicates, problems);
  if (problems.length > 0) throw new TypedValueError(problems);
}

function validate(value: Json, type: FieldType, path: string, allowDuplicates: boolean, problems: string[]): void {
  const report = (problem: string): void => {
    problems.push(path === '' ? problem : `${path}: ${problem}`);
  };
  if (value === null) return;
  switch (handledShape(type, shapeOf(type, value))) {
    case 'map': {
      if (!isMap(value)) return report(`expected map, got &{${goValue(value)}}`);
      const map = type.map as MapType;
      for (const key of Object.keys(value)) {
        const fieldType = map.field(key) ?? map.elementType;
        const childPath = `${path}.${key}`;
        if (fieldType) validate(value[key] as Json, fieldType, childPath, allowDuplicates, problems);
        else {
          problems.push(`${childPath}: field not declared in schema`);
          break;
        }
      }
      return;
    }
    case 'list': {
      if (!Array.isArray(value)) return report(`expected list, got &{${goValue(value)}}`);
      return validateList(value, type.list as ListType, path, allowDuplicates, problems);
    }
    default:
      validateScalar(value, type, report);
  }
}

function validateList(list: Json[], type: ListType, path: string, allowDuplicates: boolean, problems: string[]): void {
  const report = (problem: string): void => {
    problems.push(path === '' ? problem : `${path}: ${problem}`);
  };
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    let printed = `[${index}]`;
    if (type.relation !== 'atomic') {
      let element: string;
      try {
        element = elementOf(type, item);
      } catch (error) {
        if (!(error instanceof ElementError)) throw error;
        return report(`element ${index}: ${error.message}`);
      }
      printed = printElement(element);
      if (seen.has(element) && !allowDuplicates) report(`duplicate entries for key ${printed}`);
      seen.add(element);
    }
    validate(item, type.elementType, `${path}${printed}`, allowDuplicates, problems);
  }
}

function validateScalar(value: Json, type: FieldType, report: (problem: string) => void): void {
  const actual = isBigInteger(value) ? 'number' : typeof value;
  if (type.scalar === 'numeric') {
    if (actual !== 'number') report(`expected numeric (int or float), got ${goType(value)}`);
  } else if (type.scalar === 'string') {
    if (actual !== 'string') report(`expected string, got &value.valueUnstructured{Value:${goLiteral(value)}}`);
  } else if (type.scalar === 'boolean') {
    if (actual !== 'boolean') report(`expected boolean, got &{${goValue(value)}}`);
  } else if (actual === 'object') report(`expected any scalar, got &{${goValue(value)}}`);
}

function goType(value: Json): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isBigInteger(value)) return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'object') return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Go's `%v` of a JSON value. */
export function goValue(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (isBigInteger(value)) return value.rawJSON;
  if (typeof value !== 'object') return String(value);
  const fields = Object.keys(value).toSorted();
  return `map[${fields.map((key) => `${key}:${goValue(value[key] as Json)}`).join(' ')}]`;
}

/** Go's `%#v` of a JSON value. */
function goLiteral(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (isBigInteger(value)) return value.rawJSON;
  if (typeof value !== 'object') return String(value);
  const [open, close] = ['{', '}'];
  if (Array.isArray(value)) return `[]interface {}${open}${value.map(goLiteral).join(', ')}${close}`;
  const fields = Object.keys(value).toSorted();
  const inner = fields.map((key) => `${JSON.stringify(key)}:${goLiteral(value[key] as Json)}`).join(', ');
  return `map[string]interface {}${open}${inner}${close}`;
}

/** Every leaf field and list element a value mentions. */
export function fieldSetOf(value: Json, type: FieldType): FieldSet {
  const builder = new FieldSetBuilder();
  collect(value, type, [], builder);
  return builder.build();
}

function collect(value: Json, type: FieldType, path: string[], into: FieldSetBuilder): void {
  switch (handledShape(type, shapeOf(type, value))) {
    case 'map': {
      const map = type.map as MapType;
      if (map.atomic) return into.insert(path);
      if (!isMap(value)) return;
      for (const key of Object.keys(value)) {
        const child = value[key] as Json;
        const named = map.field(key);
        const childType = named ?? map.elementType;
        path.push(fieldElement(key));
        if (childType) collect(child, childType, path, into);
        if (!named || child === null || (isMap(child) && Object.keys(child).length === 0)) into.insert(path);
        path.pop();
      }
      return;
    }
    case 'list': {
      const list = type.list as ListType;
      if (list.relation === 'atomic') return into.insert(path);
      if (!Array.isArray(value)) return;
      const elements = value.map((item) => elementOf(list, item));
      const shared = repeatedAmong(elements);
      for (const [index, element] of elements.entries()) {
        path.push(element);
        // Elements that share a name are owned as one, without their fields.
        if (!shared.has(element)) collect(value[index] as Json, list.elementType, path, into);
        into.insert(path);
        path.pop();
      }
      return;
    }
    default:
      into.insert(path);
  }
}

function repeatedAmong(elements: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const element of elements) {
    if (seen.has(element)) repeated.add(element);
    else seen.add(element);
  }
  return repeated;
}

/** `base` with everything `config` says laid over it. Nothing is removed. */
export function mergeValues(base: Json | undefined, config: Json | undefined, type: FieldType): Json | undefined {
  const old = shapeOf(type, base);
  const now = shapeOf(type, config);
  return mergeShape(base, config, type, handledShape(type, config === undefined ? old : now));
}

function mergeShape(
  base: Json | undefined,
  config: Json | undefined,
  type: FieldType,
  shape: 'map' | 'scalar' | 'list',
): Json | undefined {
  const replaced = config === undefined ? base : config;
  if (shape === 'scalar') return replaced;
  if (shape === 'map') {
    const left = isMap(base) ? base : {};
    const right = isMap(config) ? config : {};
    if (type.map?.atomic || Object.keys(left).length + Object.keys(right).length === 0) return replaced;
    return mergeMaps(left, right, type.map as MapType);
  }
  const left = Array.isArray(base) ? base : [];
  const right = Array.isArray(config) ? config : [];
  if (type.list?.relation === 'atomic' || left.length + right.length === 0) return replaced;
  return mergeLists(left, right, type.list as ListType);
}

function mergeMaps(base: JsonObject, config: JsonObject, type: MapType): JsonObject {
  const result = { ...base };
  for (const key of Object.keys(config)) {
    const fieldType = type.field(key) ?? type.elementType;
    const merged = fieldType ? mergeValues(getOwn(base, key), config[key], fieldType) : config[key];
    if (merged !== undefined) setOwn(result, key, merged);
  }
  return result;
}

/**
 * The base's elements keep their place; new ones follow the order of the config. Elements both name stand in the config's
 * order, which anchors the rest around them.
 */
function mergeLists(base: Json[], config: Json[], type: ListType): Json[] {
  const left = base.map((item) => elementOf(type, item));
  const right = config.map((item) => elementOf(type, item));
  const inRight = new Map(right.map((element, index) => [element, config[index] as Json]));
  const inLeft = new Map<string, Json | undefined>();
  // Elements that share a name cannot be merged with a new value.
  for (const [index, element] of left.entries()) inLeft.set(element, inLeft.has(element) ? undefined : base[index]);

  const shared = right.filter((element) => inLeft.has(element));
  const done = new Set<string>();
  const result: Json[] = [];
  const take = (element: string, own: Json | undefined): void => {
    const merged = mergeValues(own, inRight.get(element), type.elementType);
    if (merged !== undefined) result.push(merged);
  };
  let next = 0;
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const here = left[l];
    const there = right[r];
    if (here !== undefined && there !== undefined) {
      if (here === there) {
        done.add(here);
        take(here, inLeft.get(here));
        l += 1;
        r += 1;
        next += 1;
        continue;
      }
      const anchor = shared[next];
      if (inRight.has(here) && anchor !== undefined && anchor !== here) {
        // It belongs elsewhere: the config orders it.
        l += 1;
        continue;
      }
    }
    if (here !== undefined) {
      if (!inRight.has(here)) {
        take(here, base[l]);
        l += 1;
        continue;
      }
      if (done.has(here)) l += 1;
    }
    if (there !== undefined) {
      done.add(there);
      take(there, inLeft.get(there));
      r += 1;
      if (shared[next] === there) next += 1;
    }
  }
  return result;
}

/** `value` without the fields and elements in `items`. Undefined when nothing is left of it. */
export function removeItems(value: Json, items: FieldSet, type: FieldType): Json | undefined {
  switch (handledShape(type, shapeOf(type, value))) {
    case 'map': {
      const map = type.map as MapType;
      if (!isMap(value) || map.atomic || Object.keys(value).length === 0) return undefined;
      const result: JsonObject = {};
      let left = 0;
      for (const key of Object.keys(value)) {
        const element = fieldElement(key);
        if (items.members.has(element)) continue;
        const child = value[key] as Json;
        const below = items.below(element);
        const fieldType = map.field(key) ?? map.elementType;
        const kept = below.isEmpty || !fieldType ? child : (removeItems(child, below, fieldType) ?? null);
        setOwn(result, key, kept);
        left += 1;
      }
      return left > 0 ? result : undefined;
    }
    case 'list': {
      const list = type.list as ListType;
      if (!Array.isArray(value) || list.relation === 'atomic') return undefined;
      const result: Json[] = [];
      for (const item of value) {
        const element = elementOf(list, item);
        if (items.members.has(element)) continue;
        const below = items.below(element);
        result.push(below.isEmpty ? item : (removeItems(item, below, list.elementType) ?? null));
      }
      return result.length > 0 ? result : undefined;
    }
    default:
      return value;
  }
}
