import { byteLength, sliceBytes, textToBytes, utf8Compare } from '../go/bytes.ts';
import { show, sprint, sprintf, sprintln } from '../go/format.ts';
import { isPrintable } from '../go/quote.ts';
import {
  deepEqual,
  GoObject,
  integerOf,
  isNilContainer,
  isTrue,
  kindOf,
  SizedInt,
  sizeOf,
  typeOf,
  type GoFunction,
  type GoMap,
  type Value,
} from '../go/values.ts';
import type { FunctionTable, TemplateFunction } from './run.ts';
import { fn, variadic, walking } from './signature.ts';

/** The functions every Go template has. */

/** `and` and `or` are part of the language; each stops at an operand of this truth. */
export const shortCircuits: ReadonlyMap<string, boolean> = new Map([
  ['and', false],
  ['or', true],
]);

type BasicKind = 'bool' | 'int' | 'uint' | 'float' | 'string' | undefined;

function basicKind(value: Value): BasicKind {
  switch (kindOf(value)) {
    case 'bool':
      return 'bool';
    case 'int':
    case 'int32':
    case 'int64':
      return 'int';
    case 'uint8':
    case 'uint64':
      return 'uint';
    case 'float64':
      return 'float';
    case 'string':
      return 'string';
    default:
      return undefined;
  }
}

function isInteger(kind: BasicKind): boolean {
  return kind === 'int' || kind === 'uint';
}

function isNil(value: Value): boolean {
  return value === undefined || value === null;
}

/** Nothing at all, or a map or slice that was never made. */
function isNilOrUnmade(value: Value): boolean {
  return isNil(value) || isNilContainer(value);
}

/** As Go's own complaint has a value, which it prints as if it were a text. */
function asText(value: Value): string {
  return sprintf('%s', [value]);
}

function equal(a: Value, b: Value): boolean {
  const kind = basicKind(a);
  const other = basicKind(b);
  if (kind !== other) {
    if (isInteger(kind) && isInteger(other)) return integerOf(a) === integerOf(b);
    if (isNil(a) || isNil(b)) return false;
    throw new Error(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`);
  }
  if (kind === undefined) {
    if (!isNil(a) && !isNil(b) && kindOf(a) !== kindOf(b))
      throw new Error(`non-comparable types ${asText(a)}: ${typeOf(a)}, ${typeOf(b)}: ${show(b)}`);
    if (isNilOrUnmade(a) || isNilOrUnmade(b)) return isNilOrUnmade(a) === isNilOrUnmade(b);
    if (b instanceof GoObject && b.goKind !== 'map' && b.goKind !== 'slice')
      return b.goKind === 'struct' ? deepEqual(a, b) : a === b;
    throw new Error(`non-comparable type ${asText(b)}: ${typeOf(b)}`);
  }
  return isInteger(kind) ? integerOf(a) === integerOf(b) : a === b;
}

function equalsAny(first: Value, others: readonly Value[]): boolean {
  if (others.length === 0) throw new Error('missing argument for comparison');
  return others.some((other) => equal(first, other));
}

function less(a: Value, b: Value): boolean {
  const kind = basicKind(a);
  const other = basicKind(b);
  if (kind === undefined || other === undefined) throw new Error('invalid type for comparison');
  if (isInteger(kind) && isInteger(other)) return integerOf(a)! < integerOf(b)!;
  if (kind !== other) throw new Error(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`);
  if (kind === 'bool') throw new Error('invalid type for comparison');
  if (kind === 'string') return utf8Compare(a as string, b as string) < 0;
  return (a as number) < (b as number);
}

function lessOrEqual(a: Value, b: Value): boolean {
  return less(a, b) || equal(a, b);
}

function indexNumber(index: Value, limit: number): number {
  const number = integerOf(index);
  if (number === undefined) {
    throw new Error(
      isNil(index) ? 'cannot index slice/array with nil' : `cannot index slice/array with type ${typeOf(index)}`,
    );
  }
  if (number < 0n || number > BigInt(limit)) throw new Error(`index out of range: ${number}`);
  return Number(number);
}

function contentsOf(item: Value): Value {
  return item instanceof GoObject && (item.goKind === 'map' || item.goKind === 'slice') ? item.contents() : item;
}

/** What a key that a map does not have stands for. */
function zeroOf(map: GoMap): Value {
  return typeOf(map) === 'map[string]string' ? '' : null;
}

function element(container: Value, index: Value): Value {
  const item = contentsOf(container);
  if (item === null || item === undefined) throw new Error('index of nil pointer');
  if (item instanceof Map) {
    if (typeof index !== 'string')
      throw new Error(
        isNil(index) ? 'value is nil; should be of type string' : `value has type ${typeOf(index)}; should be string`,
      );
    return item.get(index) ?? (typeOf(container) === 'engine.files' ? new Uint8Array() : zeroOf(item));
  }
  if (Array.isArray(item)) {
    const at = indexNumber(index, item.length);
    if (at >= item.length) throw new Error('reflect: slice index out of range');
    return item[at];
  }
  if (typeof item === 'string' || item instanceof Uint8Array) {
    const bytes = typeof item === 'string' ? textToBytes(item) : item;
    const at = indexNumber(index, bytes.length);
    if (at >= bytes.length) throw new Error('reflect: string index out of range');
    return new SizedInt('uint8', BigInt(bytes[at]!));
  }
  throw new Error(`can't index item of type ${typeOf(item)}`);
}

function slice(item: Value, indexes: readonly Value[]): Value {
  if (isNil(item)) throw new Error('slice of untyped nil');
  if (indexes.length > 3) throw new Error(`too many slice indexes: ${indexes.length}`);
  const isText = typeof item === 'string';
  if (!isText && !Array.isArray(item)) throw new Error(`can't slice item of type ${typeOf(item)}`);
  if (isText && indexes.length === 3) throw new Error('cannot 3-index slice a string');
  const size = isText ? byteLength(item) : item.length;
  const [start = 0, end = size, max = end] = indexes.map((index) => indexNumber(index, size));
  if (start > end) throw new Error(`invalid slice index: ${start} > ${end}`);
  if (end > max) throw new Error(`invalid slice index: ${end} > ${max}`);
  return isText ? sliceBytes(item, start, end) : item.slice(start, end);
}

function length(value: Value): bigint {
  const item = contentsOf(value);
  if (item === null) throw new Error('len of nil pointer');
  if (typeof item === 'string') return BigInt(byteLength(item));
  if (item instanceof Uint8Array) return BigInt(item.length);
  if (Array.isArray(item) || item instanceof Map) return BigInt(sizeOf(item as Value[] | GoMap));
  if (item === undefined) throw new Error('reflect: call of reflect.Value.Type on zero Value');
  throw new Error(`len of type ${typeOf(item)}`);
}

function callFunction(callee: Value, args: Value[], written: string): Value {
  if (isNil(callee)) throw new Error('call of nil');
  const method = callee instanceof GoObject && callee.goKind === 'func' ? callee.method('') : undefined;
  if (!method) throw new Error(`non-function ${written} of type ${typeOf(callee)}`);
  return (method as GoFunction<unknown>).call(args, undefined);
}

/** `call`, whose complaint says how the function is written; one that comes from the pipeline is not. */
export function calling(written?: string): TemplateFunction {
  return variadic(['value'], 'value', (callee, ...args) => {
    const piped = typeof callee === 'string' ? callee : `<${typeOf(callee)} Value>`;
    return callFunction(callee, args, written ?? piped);
  });
}

/** What escapers escape: the one string, or what `print` makes of the arguments. */
function joined(args: Value[]): string {
  if (args.length === 1 && typeof args[0] === 'string') return args[0];
  return sprint(args.map((arg) => (isNil(arg) ? '<no value>' : arg)));
}

const htmlEscapes: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

const jsEscapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

function escapeScript(text: string): string {
  return text.replace(/[\\'"<>&=\p{Cc}]|[^\p{ASCII}]/gu, (char) => {
    const escape = jsEscapes[char];
    if (escape !== undefined) return escape;
    const code = char.codePointAt(0)!;
    if (code === 0x7f || (code >= 0xdc80 && code <= 0xdcff) || (code >= 0x80 && isPrintable(char))) return char;
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** Go's `url.QueryEscape`. */
function queryEscape(text: string): string {
  let escaped = '';
  for (const byte of textToBytes(text)) {
    const char = String.fromCharCode(byte);
    if (/[A-Za-z0-9_.~-]/.test(char)) escaped += char;
    else if (char === ' ') escaped += '+';
    else escaped += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}

export const builtins: FunctionTable = new Map([
  ['and', variadic(['value'], 'value', (first) => first)],
  ['or', variadic(['value'], 'value', (first) => first)],
  ['not', fn(['value'], (value) => !isTrue(value))],
  ['len', fn(['value'], length)],
  [
    'index',
    variadic(['value'], 'value', (item, ...indexes) => {
      if (isNil(item)) throw new Error('index of untyped nil');
      return indexes.reduce(element, item);
    }),
  ],
  ['slice', variadic(['value'], 'value', (item, ...indexes) => slice(item, indexes))],
  ['call', calling()],
  ['eq', variadic(['value'], 'value', (first, ...others) => equalsAny(first, others))],
  ['ne', fn(['value', 'value'], (a, b) => !equal(a, b))],
  ['lt', fn(['value', 'value'], less)],
  ['le', fn(['value', 'value'], lessOrEqual)],
  ['gt', fn(['value', 'value'], (a, b) => !lessOrEqual(a, b))],
  ['ge', fn(['value', 'value'], (a, b) => !less(a, b))],
  ['print', walking(variadic([], 'any', (...args) => sprint(args)))],
  ['printf', walking(variadic(['string'], 'any', (format, ...args) => sprintf(format, args)))],
  ['println', walking(variadic([], 'any', (...args) => sprintln(args)))],
  ['html', variadic([], 'any', (...args) => joined(args).replace(/[\0"'&<>]/g, (char) => htmlEscapes[char]!))],
  ['js', variadic([], 'any', (...args) => escapeScript(joined(args)))],
  ['urlquery', variadic([], 'any', (...args) => queryEscape(joined(args)))],
]);
