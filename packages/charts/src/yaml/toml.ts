import { createRequire } from 'node:module';
import type * as Toml from 'smol-toml';
import { formatFloat } from '../go/float.ts';
import {
  GoObject,
  int64,
  isNilContainer,
  SizedInt,
  sortedKeys,
  typed,
  typeOf,
  type GoMap,
  type Value,
} from '../go/values.ts';

/** TOML as BurntSushi/toml reads and lays it out. */

const require = createRequire(import.meta.url);

/** What kind of time a text is: one that happened, or what a clock or a calendar showed, which has no zone. */
export type TomlTimeKind = 'moment' | 'datetime-local' | 'date-local' | 'time-local';

/** Makes a value of a time, which is written as ISO 8601 has it. */
type MakeTime = (text: string, kind: TomlTimeKind) => Value;

export function readToml(text: string, makeTime: MakeTime): Value {
  const { parse, TomlDate } = require('smol-toml') as typeof Toml;
  const convert = (value: unknown): Value => {
    if (typeof value === 'bigint') return int64(value);
    if (value instanceof TomlDate) return makeTime(value.toISOString(), kindOf(value));
    if (Array.isArray(value)) {
      const items = value.map(convert);
      const tables = items.length > 0 && items.every((item) => item instanceof Map);
      return tables ? typed(items, '[]map[string]interface {}') : items;
    }
    if (typeof value === 'object' && value !== null)
      return new Map(Object.entries(value).map(([key, item]) => [key, convert(item)]));
    return value as Value;
  };
  return convert(parse(text, { integersAsBigInt: true }));
}

function kindOf(date: Toml.TomlDate): TomlTimeKind {
  if (date.isDate()) return 'date-local';
  if (date.isTime()) return 'time-local';
  return date.isLocal() ? 'datetime-local' : 'moment';
}

export function writeToml(value: Value): string {
  if (value instanceof GoObject && !value.isYamlScalar) return writeToml(value.plain());
  if (isTables(value)) throw new Error('toml: top-level values must be Go maps or structs');
  if (!(value instanceof Map)) return element(value);
  const writer = new Writer();
  writer.table([], value);
  return writer.text;
}

class Writer {
  text = '';

  /** Plain keys first, then tables, each sorted. */
  table(path: readonly string[], map: GoMap): void {
    const keys = writtenKeys(map);
    for (const key of keys.filter((each) => !isTable(map.get(each)))) {
      this.text += `${indentOf([...path, key])}${keyText(key)} = ${element(map.get(key))}\n`;
    }
    for (const key of keys.filter((each) => isTable(map.get(each)))) this.#subTable([...path, key], map.get(key));
  }

  #subTable(path: readonly string[], value: Value): void {
    const name = path.map(keyText).join('.');
    if (value instanceof Map) {
      if (path.length === 1) this.#gap();
      this.text += `${indentOf(path)}[${name}]\n`;
      this.table(path, value);
      return;
    }
    for (const item of value as GoMap[]) {
      this.#gap();
      this.text += `${indentOf(path)}[[${name}]]\n`;
      this.table(path, item);
    }
  }

  #gap(): void {
    if (this.text !== '') this.text += '\n';
  }
}

function indentOf(path: readonly string[]): string {
  return '  '.repeat(path.length - 1);
}

/** What is nothing is left out. */
function writtenKeys(map: GoMap): string[] {
  return sortedKeys(map).filter((key) => !isNothing(map.get(key)));
}

function isNothing(value: Value): boolean {
  return value === null || value === undefined || isNilContainer(value);
}

function isTable(value: Value): boolean {
  return value instanceof Map || isTables(value);
}

function isTables(value: Value): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => item instanceof Map);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : text(key);
}

function element(value: Value): string {
  if (value === null || value === undefined) throw new Error('toml: cannot encode array with nil element');
  switch (typeof value) {
    case 'string':
      return text(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return float(value);
  }
  if (value instanceof SizedInt) return String(value.value);
  if (value instanceof Uint8Array) return `[${value.join(', ')}]`;
  if (Array.isArray(value)) return `[${value.map(element).join(', ')}]`;
  if (value instanceof Map) return inlineTable(value);
  if (value instanceof GoObject && value.isYamlScalar) return timeText(value);
  if (value instanceof GoObject) return element(value.plain());
  throw new Error(`toml: cannot encode ${typeOf(value)}`);
}

/** A time stands without quotes. One that was read here has the name of its kind for a zone, and is written as it was. */
function timeText(value: GoObject): string {
  const written = value.plain() as string;
  const kind = /\S+$/.exec(value.text())?.[0];
  const local = written.replace(/(?:Z|[-+]\d\d:\d\d)$/, '');
  if (kind === 'datetime-local') return local;
  const [date, time] = local.split('T') as [string, string];
  if (kind === 'date-local') return date;
  return kind === 'time-local' ? time : written;
}

/** A key without a value is left out, but not the comma after the one before it. */
function inlineTable(map: GoMap): string {
  const keys = sortedKeys(map);
  const tables = keys.filter((key) => isTable(map.get(key)));
  const direct = keys.filter((key) => !isTable(map.get(key)));
  const written = (part: readonly string[], isFollowed: boolean) =>
    part.map((key, index) => {
      const value = map.get(key);
      if (isNothing(value)) return '';
      return `${keyText(key)} = ${element(value)}${isFollowed || index < part.length - 1 ? ', ' : ''}`;
    });
  return `{${[...written(direct, tables.length > 0), ...written(tables, false)].join('')}}`;
}

function float(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const digits = formatFloat(value, 'g');
  return /[.e]/.test(digits) ? digits : `${digits}.0`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

function text(value: string): string {
  const escaped = value.replace(
    /["\\\p{Cc}]/gu,
    (char) => shortEscapes[char] ?? (char >= '\x80' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  return `"${escaped}"`;
}
