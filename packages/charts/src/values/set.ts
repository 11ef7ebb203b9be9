import { ChartError } from '../chart/chart-error.ts';
import { runes } from '../go/bytes.ts';
import { quote } from '../go/quote.ts';
import { fromPlain, int64, isMap, type GoMap, type Value } from '../go/values.ts';

/**
 * How the text after `=` is read: `--set` knows numbers, booleans and null, `--set-string` only text, `--set-json` JSON,
 * `--set-literal` takes everything as it stands.
 */
export type SetMode = 'typed' | 'string' | 'json' | 'literal';

const largestIndex = 65_536;
const deepestKey = 30;

/**
 * Puts what a `--set` says into values, in place: `a.b=1,list[0].name=x,tags={one,two}`.
 *
 * @example
 * const values = parseSet('image.tag=v2,replicas=3', new Map());
 */
export function parseSet(text: string, into: GoMap, mode: SetMode = 'typed'): GoMap {
  new SetParser(text, mode, (value) => (mode === 'typed' ? typedValue(value) : value)).into(into);
  return into;
}

/** `--set-file a.b=path`: the value is what `read` answers for the path. */
export async function parseSetFile(text: string, into: GoMap, read: (path: string) => Promise<string>): Promise<GoMap> {
  const paths = new Map<string, string>();
  // The parser does not wait, so the paths are collected, read, and put in on a second run.
  new SetParser(text, 'string', (path) => paths.set(path, '') && '').into(new Map());
  for (const path of paths.keys()) paths.set(path, await read(path));
  new SetParser(text, 'string', (path) => paths.get(path) ?? '').into(into);
  return into;
}

function typedValue(text: string): Value {
  const lower = text.toLowerCase();
  if (lower === 'true') return true;
  if (lower === 'false') return false;
  if (lower === 'null') return null;
  if (text === '0') return int64(0);
  if (/^[+-]?[0-9]+$/.test(text) && !text.startsWith('0')) {
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
  #at = 0;

  constructor(text: string, mode: SetMode, read: (text: string) => Value) {
    this.#text = text;
    this.#chars = runes(text);
    this.#mode = mode;
    this.#read = read;
  }

  into(target: GoMap): void {
    while (this.#at < this.#chars.length) this.#key(target, 0);
  }

  #fail(why: string): never {
    throw new ChartError('InvalidValues', `failed parsing ${quote(this.#text)}: ${why}`, {
      hint: 'write key=value, with dots between levels and commas between pairs; a backslash takes a character as it is',
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
    const { text, stop } = this.#until('[.=');
    if (text !== '') this.#fail(`unexpected data at end of array index: ${quote(text)}`);
    if (stop === undefined) this.#fail('a list item has no value');
    const present = list[index];
    if (stop === '=') fill(list, index, this.#value());
    else if (stop === '[') fill(list, index, this.#item(Array.isArray(present) ? present : [], this.#index(), depth));
    else {
      const inner: GoMap = isMap(present) ? present : new Map();
      this.#key(inner, depth);
      fill(list, index, inner);
    }
    return list;
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
      items.push(this.#read(text));
      if (stop === '}') break;
    }
    if (this.#chars[this.#at] === ',') this.#at += 1;
    return items;
  }

  /** The longest piece that is JSON: values of several keys stand side by side, with commas inside and between. */
  #json(): Value {
    const rest = this.#chars.slice(this.#at).join('');
    if (/^\s*(,|$)/.test(rest)) {
      this.#until(',');
      return null;
    }
    const ends = [...rest.matchAll(/,|$/g)].map((match) => match.index);
    for (const end of ends) {
      try {
        const value = fromPlain(JSON.parse(rest.slice(0, end)));
        this.#at += runes(rest.slice(0, end)).length + 1;
        return value;
      } catch {
        // It goes on after this comma.
      }
    }
    return this.#fail(`${quote(rest)} is no JSON`);
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
