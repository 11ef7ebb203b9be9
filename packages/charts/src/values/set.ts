import { ChartError } from '../chart/chart-error.ts';
import { runes } from '../go/bytes.ts';
import { quote } from '../go/quote.ts';
import { fromPlain, int64, isMap, type GoMap, type Value } from '../go/values.ts';

/**
 * How the text after `=` is read: `--set` knows numbers, booleans and null, `--set-string` only text, `--set-json` JSON,
 * `--set-literal` takes everything as it stands.
 */
export type SetMode = 'typed' | 'string' | 'json' | 'literal';

const pairHint =
  'write key=value, with dots between levels and commas between pairs; a backslash takes a character as it is';
const jsonHint = `write 'key={"a": 1}', with dots between levels; texts take double quotes`;

const largestIndex = 65_536;
const deepestKey = 30;
/** Keys and lists in lists together, which Helm does not bound. */
const deepestValue = 1000;

/** Counts the items of lists that are made: `a[65535]=1` asks for many with few letters. */
export class SetBudget {
  #left = 1_000_000;

  /** Answers whether there is room for as many. */
  take(items: number): boolean {
    this.#left -= items;
    return this.#left >= 0;
  }
}

/**
 * Puts what a `--set` says into values, in place: `a.b=1,list[0].name=x,tags={one,two}`.
 *
 * @example
 * const values = parseSet('image.tag=v2,replicas=3', new Map());
 */
export function parseSet(text: string, into: GoMap, mode: SetMode = 'typed', budget = new SetBudget()): GoMap {
  new SetParser(text, mode, budget, (value) => (mode === 'typed' ? typedValue(value) : value)).into(into);
  return into;
}

/** `--set-file a.b=path`: the value is what `read` answers for the path. */
export async function parseSetFile(
  text: string,
  into: GoMap,
  read: (path: string) => Promise<string>,
  budget = new SetBudget(),
): Promise<GoMap> {
  const paths = new Map<string, string>();
  // The parser does not wait, so the paths are collected, read, and put in on a second run.
  new SetParser(text, 'string', new SetBudget(), (path) => paths.set(path, '') && '').into(new Map());
  for (const path of paths.keys()) paths.set(path, await read(path));
  new SetParser(text, 'string', budget, (path) => paths.get(path) ?? '').into(into);
  return into;
}

function typedValue(text: string): Value {
  const lower = text.toLowerCase();
  if (lower === 'true') return true;
  if (lower === 'false') return false;
  if (lower === 'null') return null;
  if (text === '0') return int64(0);
  if (/^[+-]?0*[0-9]{1,19}$/.test(text) && !text.startsWith('0')) {
    const value = BigInt(text.replace(/^\+/, ''));
    if (BigInt.asIntN(64, value) === value) return int64(value);
  }
  return text;
}

class SetParser {
  readonly #chars: readonly string[];
  readonly #mode: SetMode;
  readonly #read: (text: string) => Value;
  readonly #text: string;
  readonly #budget: SetBudget;
  #at = 0;
  #nesting = 0;

  constructor(text: string, mode: SetMode, budget: SetBudget, read: (text: string) => Value) {
    this.#text = text;
    this.#chars = runes(text);
    this.#mode = mode;
    this.#budget = budget;
    this.#read = read;
  }

  into(target: GoMap): void {
    while (this.#at < this.#chars.length) {
      this.#nesting = 0;
      this.#key(target, 0);
    }
  }

  #fail(why: string): never {
    throw new ChartError('InvalidValues', `failed parsing ${quote(this.#text)}: ${why}`, {
      hint: this.#mode === 'json' ? jsonHint : pairHint,
    });
  }

  /** The text up to a stop character, which is taken too; `undefined` at the end. */
  #until(stops: string): { text: string; stop: string | undefined } {
    let text = '';
    while (this.#at < this.#chars.length) {
      const char = this.#chars[this.#at]!;
      this.#at += 1;
      if (stops.includes(char)) return { text, stop: char };
      if (char === '\\' && this.#mode !== 'literal') {
        text += this.#chars[this.#at] ?? '';
        this.#at += 1;
      } else text += char;
    }
    return { text, stop: undefined };
  }

  #key(target: GoMap, depth: number): void {
    if (depth > deepestKey)
      this.#fail(`value name nested level is greater than maximum supported nested level of ${deepestKey}`);
    const { text: key, stop } = this.#until(this.#mode === 'literal' ? '=[.' : '=[,.');
    if (stop === undefined) {
      if (key !== '') this.#fail(`key ${quote(key)} has no value`);
      return;
    }
    if (stop === ',') this.#fail(`key ${quote(key)} has no value (cannot end with ,)`);
    if (stop === '=') put(target, key, this.#value());
    else if (stop === '[') {
      const present = target.get(key);
      if (present !== undefined && !Array.isArray(present)) this.#fail(`unable to parse key: ${key} is no list`);
      put(target, key, this.#item(Array.isArray(present) ? present : [], this.#index(), depth));
    } else {
      const present = target.get(key);
      if (present !== undefined && !isMap(present)) this.#fail(`unable to parse key: ${key} is no table`);
      const inner: GoMap = isMap(present) ? present : new Map();
      this.#key(inner, depth + 1);
      if (inner.size === 0) this.#fail(`key map ${quote(key)} has no value`);
      put(target, key, inner);
    }
  }

  #index(): number {
    const { text, stop } = this.#until(']');
    const index = Number(text);
    if (stop === undefined || !/^[+-]?\d+$/.test(text)) this.#fail(`error parsing index: ${quote(text)} is no number`);
    if (index < 0) this.#fail(`negative ${index} index not allowed`);
    if (index > largestIndex)
      this.#fail(`index of ${index} is greater than maximum supported index of ${largestIndex}`);
    return index;
  }

  /** What follows `[index]`; answers the list with the item in it. */
  #item(list: Value[], index: number, depth: number): Value[] {
    this.#nesting += 1;
    if (this.#nesting > deepestValue) this.#fail(`lists are nested in more than ${deepestValue} levels`);
    this.#room(index + 1 - list.length);
    const { text, stop } = this.#until('[.=');
    if (text !== '') this.#fail(`unexpected data at end of array index: ${quote(text)}`);
    if (stop === undefined) this.#fail('a list item has no value');
    const present = list[index] ?? null;
    if (stop === '=') fill(list, index, this.#value());
    else if (stop === '[') {
      const at = this.#index();
      if (present !== null && !Array.isArray(present)) this.#fail(`unable to parse key: item ${index} is no list`);
      fill(list, index, this.#item(present ?? [], at, depth));
    } else {
      const inner: GoMap = isMap(present) ? present : new Map();
      this.#key(inner, depth);
      fill(list, index, inner);
    }
    return list;
  }

  #room(items: number): void {
    if (items > 0 && !this.#budget.take(items)) this.#fail('the lists have too many items');
  }

  #value(): Value {
    if (this.#mode === 'literal') {
      const rest = this.#chars.slice(this.#at).join('');
      this.#at = this.#chars.length;
      return rest;
    }
    if (this.#mode === 'json') return this.#json();
    if (this.#chars[this.#at] === '{') return this.#list();
    return this.#read(this.#until(',').text);
  }

  #list(): Value[] {
    this.#at += 1;
    const items: Value[] = [];
    for (;;) {
      const { text, stop } = this.#until(',}');
      if (stop === undefined) this.#fail("list must terminate with '}'");
      this.#room(1);
      items.push(this.#read(text));
      if (stop === '}') break;
    }
    if (this.#chars[this.#at] === ',') this.#at += 1;
    return items;
  }

  /** A piece that is JSON: values of several keys stand side by side, with commas inside and between. */
  #json(): Value {
    const start = this.#at;
    const end = this.#jsonEnd();
    const piece = this.#chars.slice(start, end).join('');
    this.#at = end + 1;
    if (piece.trim() === '') return null;
    try {
      return fromPlain(JSON.parse(piece));
    } catch {
      return this.#fail(`${quote(this.#chars.slice(start).join(''))} is no JSON`);
    }
  }

  /** Where the next comma is that is in no text, list or table. */
  #jsonEnd(): number {
    let depth = 0;
    let isText = false;
    for (let at = this.#at; at < this.#chars.length; at += 1) {
      const char = this.#chars[at]!;
      if (isText) {
        if (char === '\\') at += 1;
        else if (char === '"') isText = false;
      } else if (char === '"') isText = true;
      else if (char === '[' || char === '{') depth += 1;
      else if (char === ']' || char === '}') depth -= 1;
      else if (char === ',' && depth <= 0) return at;
    }
    return this.#chars.length;
  }
}

function put(target: GoMap, key: string, value: Value): void {
  // An empty key is nothing to Helm.
  if (key !== '') target.set(key, value);
}

function fill(list: Value[], index: number, value: Value): void {
  while (list.length < index) list.push(null);
  list[index] = value;
}
