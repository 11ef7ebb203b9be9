import {
  deepCopy,
  GoObject,
  isMap,
  isNilContainer,
  isTrue,
  nilMap,
  sortedKeys,
  strings,
  typeOf,
  type GoMap,
  type Value,
} from '../go/values.ts';
import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { fn, variadic } from '../template/signature.ts';
import { toText } from './convert.ts';

const noMap = 'assignment to entry in nil map';

function dict(values: readonly Value[]): GoMap {
  const map: GoMap = new Map();
  for (let i = 0; i < values.length; i += 2) map.set(toText(values[i]), i + 1 < values.length ? values[i + 1] : '');
  return map;
}

/**
 * What mergo does to maps. Without `overwrite` only what is missing or empty (`false`, 0 and "" included) is filled, and a
 * nil never; with it everything is replaced, even by nil. Maps merge, lists are replaced whole.
 */
export function mergeInto(target: GoMap, source: GoMap, overwrite: boolean): void {
  const targetWasEmpty = target.size === 0;
  for (const [key, value] of source) {
    const present = target.get(key);
    if (value === null || value === undefined) {
      if (overwrite) target.set(key, null);
      continue;
    }
    if (value instanceof Map && present instanceof Map) mergeInto(present, value, overwrite);
    if (Array.isArray(value)) {
      if (overwrite || targetWasEmpty) target.set(key, value);
      if (!isBlank(present)) continue;
    }
    if (value instanceof Map && present instanceof Map && present.size > 0) continue;
    if (overwrite || isBlank(present)) target.set(key, value);
  }
}

function isBlank(value: Value): boolean {
  return value instanceof GoObject ? false : !isTrue(value);
}

function mergeAll(overwrite: boolean) {
  return (target: GoMap | null, ...sources: (GoMap | null)[]): Value => {
    const result = target ?? new Map<string, Value>();
    for (const source of sources) if (source) mergeInto(result, source, overwrite);
    return result;
  };
}

/** A map with a type of its own, such as `.Values`, is another thing to Go. */
const plainMap = 'map[string]interface {}';

function dig(args: Value[]): Value {
  if (args.length < 3) throw new Error('dig needs at least three arguments');
  const fallback = args.at(-2);
  let value = plainMapOf(args.at(-1));
  const keys = args.slice(0, -2).map((key) => {
    if (typeof key !== 'string') throw new Error(conversionError(key, 'string'));
    return key;
  });
  const last = keys.pop()!;
  for (const key of keys) {
    if (!value.has(key)) return fallback;
    value = plainMapOf(value.get(key));
  }
  return value.has(last) ? value.get(last) : fallback;
}

function plainMapOf(value: Value): GoMap {
  if (!isMap(value) || typeOf(value) !== plainMap) throw new Error(conversionError(value, plainMap));
  return value;
}

function conversionError(value: Value, wanted: string): string {
  const got = value === null || value === undefined ? 'nil' : typeOf(value);
  return `interface conversion: interface {} is ${got}, not ${wanted}`;
}

function copy(value: Value): Value {
  if (value === null || value === undefined) throw new Error('reflect: call of reflect.Value.Type on zero Value');
  return deepCopy(value);
}

const map = 'map[string]interface {}';

export const dictFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['dict', variadic([], 'any', (...values) => dict(values))],
  ['get', fn([map, 'string'], (dictionary, key) => (dictionary?.has(key) ? dictionary.get(key) : ''))],
  [
    'set',
    fn([map, 'string', 'any'], (dictionary, key, value) => {
      if (!dictionary || isNilContainer(dictionary)) throw new Error(noMap);
      return dictionary.set(key, value);
    }),
  ],
  [
    'unset',
    fn([map, 'string'], (dictionary, key) => {
      dictionary?.delete(key);
      return dictionary ?? nilMap();
    }),
  ],
  ['hasKey', fn([map, 'string'], (dictionary, key) => dictionary?.has(key) ?? false)],
  [
    'pluck',
    variadic(['string'], map, (key, ...dictionaries) =>
      dictionaries.filter((dictionary) => dictionary?.has(key)).map((dictionary) => dictionary!.get(key)),
    ),
  ],
  // Go answers keys and values in no order at all; sorted is one of them.
  [
    'keys',
    variadic([], map, (...dictionaries) => strings(dictionaries.flatMap((each) => (each ? sortedKeys(each) : [])))),
  ],
  ['values', fn([map], (dictionary) => (dictionary ? sortedKeys(dictionary).map((key) => dictionary.get(key)) : []))],
  [
    'pick',
    variadic([map], 'string', (dictionary, ...keys) => {
      const picked: GoMap = new Map();
      for (const key of keys) if (dictionary?.has(key)) picked.set(key, dictionary.get(key));
      return picked;
    }),
  ],
  [
    'omit',
    variadic([map], 'string', (dictionary, ...keys) => {
      const kept: GoMap = new Map(dictionary ?? []);
      for (const key of keys) kept.delete(key);
      return kept;
    }),
  ],
  ['merge', variadic([map], map, mergeAll(false))],
  ['mustMerge', variadic([map], map, mergeAll(false))],
  ['mergeOverwrite', variadic([map], map, mergeAll(true))],
  ['mustMergeOverwrite', variadic([map], map, mergeAll(true))],
  ['dig', variadic([], 'any', (...args) => dig(args))],
  ['deepCopy', fn(['any'], copy)],
  ['mustDeepCopy', fn(['any'], copy)],
]);
