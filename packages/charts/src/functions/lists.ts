import { utf8Compare } from '../go/bytes.ts';
import { deepEqual, GoObject, kindOf, nilIfEmpty, SizedInt, strings, typed, typeOf, type Value } from '../go/values.ts';
import type { FunctionTable, Run, TemplateFunction } from '../template/run.ts';
import { fn, inRun, variadic } from '../template/signature.ts';
import { isEmpty } from './flow.ts';
import { toInteger, toText, toTexts } from './convert.ts';

/** The elements of a list; every other kind is refused in sprig's words. */
function elements(value: Value, complaint: (kind: string) => string): Value[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Uint8Array) return [...value].map((byte) => new SizedInt('uint8', BigInt(byte)));
  if (value instanceof GoObject && value.goKind === 'slice') return value.contents() as Value[];
  if (value === null || value === undefined)
    throw new Error('runtime error: invalid memory address or nil pointer dereference');
  throw new Error(complaint(kindOf(value)));
}

function cannotFind(what: string): (kind: string) => string {
  return (kind) => `Cannot find ${what} on type ${kind}`;
}

function contains(list: readonly Value[], needle: Value): boolean {
  return list.some((item) => deepEqual(item, needle));
}

function uniq(run: Run, list: readonly Value[]): Value[] {
  const simple = new Set<Value>();
  const containers: Value[] = [];
  return list.filter((item) => {
    const value = item ?? null;
    if (typeof value !== 'object' || value === null) {
      // No number that is none equals another.
      if (simple.has(value) && !Number.isNaN(value)) return false;
      simple.add(value);
      return true;
    }
    run.step(containers.length);
    if (contains(containers, value)) return false;
    containers.push(value);
    return true;
  });
}

function chunk(size: bigint, list: Value): Value {
  const items = elements(list, (kind) => `Cannot chunk type ${kind}`);
  const step = Number(size);
  const chunks: Value[] = [];
  if (step <= 0) {
    // Go counts how many there would be, which for some is none, and for some is one that cannot be made.
    const count = step === 0 ? -1 : Math.floor((items.length - 1) / step) + 1;
    const rest = count === 1 ? items.length % step : 0;
    if (count < 0 || count > 1 || (count === 1 && rest <= 0))
      throw new Error('runtime error: makeslice: len out of range');
    if (count === 1) chunks.push(items.slice(0, rest));
  }
  for (let i = 0; step > 0 && i < items.length; i += step) chunks.push(items.slice(i, i + step));
  return typed(chunks, '[][]interface {}');
}

function slice(list: Value, indices: Value[]): Value {
  const items = elements(list, (kind) => `list should be type of slice or array but ${kind}`);
  if (items.length === 0) return null;
  const start = indices.length > 0 ? Number(toInteger(indices[0])) : 0;
  const end = indices.length > 1 ? Number(toInteger(indices[1])) : items.length;
  if (start < 0 || end < start || end > items.length) throw new Error('reflect.Value.Slice: slice index out of bounds');
  const type = typeOf(list);
  const part = items.slice(start, end);
  return type === '[]interface {}' ? part : typed(part, type);
}

/** A list longer than this is a mistake in a chart, or an attack. */
const longestList = 1_000_000;

function concat(lists: readonly Value[]): Value {
  const parts = lists.map((list) => elements(list, (kind) => `Cannot concat type ${kind} as list`));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length > longestList) throw new Error(`a list of ${length} items is too long`);
  return nilIfEmpty(parts.flat());
}

/** A part of a list without its first or last item; there is none of an empty one. */
function restOf(items: readonly Value[], start: number, end?: number): Value[] {
  return items.length === 0 ? nilIfEmpty([]) : items.slice(start, end);
}

function has(run: Run, needle: Value, list: Value): boolean {
  if (list === null || list === undefined) return false;
  const items = elements(list, cannotFind('has'));
  run.step(items.length);
  return contains(items, needle);
}

/** Each function under its own name and under the one that promises an error; sprig's both fail. */
function alsoMust(name: string, implementation: TemplateFunction): [string, TemplateFunction][] {
  return [
    [name, implementation],
    [`must${name[0]!.toUpperCase()}${name.slice(1)}`, implementation],
  ];
}

const push = fn(['any', 'any'], (list, item) => [...elements(list, (kind) => `Cannot push on type ${kind}`), item]);

export const listFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['list', variadic([], 'any', (...items) => items)],
  ['tuple', variadic([], 'any', (...items) => items)],
  ...alsoMust('append', push),
  ...alsoMust('push', push),
  ...alsoMust(
    'prepend',
    fn(['any', 'any'], (list, item) => [item, ...elements(list, (kind) => `Cannot prepend on type ${kind}`)]),
  ),
  ...alsoMust(
    'first',
    fn(['any'], (list) => elements(list, cannotFind('first'))[0] ?? null),
  ),
  ...alsoMust(
    'last',
    fn(['any'], (list) => elements(list, cannotFind('last')).at(-1) ?? null),
  ),
  ...alsoMust(
    'rest',
    fn(['any'], (list) => restOf(elements(list, cannotFind('rest')), 1)),
  ),
  ...alsoMust(
    'initial',
    fn(['any'], (list) => restOf(elements(list, cannotFind('initial')), 0, -1)),
  ),
  ...alsoMust(
    'reverse',
    fn(['any'], (list) => elements(list, cannotFind('reverse')).toReversed()),
  ),
  ...alsoMust(
    'uniq',
    inRun(['any'], (run, list) => uniq(run, elements(list, cannotFind('uniq')))),
  ),
  ...alsoMust(
    'without',
    variadic(['any'], 'any', (list, ...omitted) =>
      elements(list, cannotFind('without')).filter((item) => !contains(omitted, item)),
    ),
  ),
  ...alsoMust('has', inRun(['any', 'any'], has)),
  ...alsoMust(
    'compact',
    fn(['any'], (list) => elements(list, (kind) => `Cannot compact on type ${kind}`).filter((item) => !isEmpty(item))),
  ),
  ...alsoMust(
    'slice',
    variadic(['any'], 'any', (list, ...indices) => slice(list, indices)),
  ),
  ...alsoMust('chunk', fn(['int', 'any'], chunk)),
  ['concat', variadic([], 'any', (...lists) => concat(lists))],
  [
    'sortAlpha',
    fn(['any'], (list) => {
      const isList = kindOf(list) === 'slice';
      return strings(isList ? toTexts(list).sort(utf8Compare) : [toText(list)]);
    }),
  ],
]);
