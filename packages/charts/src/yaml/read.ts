import type * as JsYaml from 'js-yaml';
import { bytesToText, runes } from '../go/bytes.ts';
import { formatFloat } from '../go/float.ts';
import type { GoMap, Value } from '../go/values.ts';
import { readLenient, type NodeRules } from './read-lenient.ts';
import { readPlain, type PlainRules } from './read-plain.ts';
import { alreadyDefined, jsYaml, scan, scanError } from './scan.ts';
import { YamlError } from './yaml-error.ts';
import { resolvePlain, type YamlDialect } from './resolve.ts';

export { YamlError } from './yaml-error.ts';

export interface ReadYamlOptions {
  /** How numbers and booleans are read. Default `v2`, which is Helm's. */
  dialect?: YamlDialect;
  /** Default `float64`: Helm sends everything through JSON. helmfile keeps integers. */
  numbers?: 'float64' | 'int';
  /** Makes a value of what looks like a time; it stays a text without it, as it does in Helm. */
  timestamp?: (text: string) => Value;
  /** Keeps how a plain scalar was written beside what it means, see {@link PlainScalar}. Default false. */
  keepText?: boolean;
}

/** A scalar that is no string, for readers who may want the text: the version `1.10` is no number. */
export class PlainScalar {
  readonly text: string;
  readonly value: Value;

  constructor(text: string, value: Value) {
    this.text = text;
    this.value = value;
  }
}

/** Expanded aliases may not make more nodes than this: a small text can stand for any number. */
const maxNodes = 5_000_000;
/** Entries that `<<` copies: a few thousand times more than anyone merges. */
const maxMerged = 1_000_000;
/** What is not written plainly takes the strict reader a hundred bytes for each of its own, and the lenient one a thousand. */
const longestStrict = 8 * 1024 * 1024;
const longestLenient = 256 * 1024;

/** Reads the first document of a text, as `sigs.k8s.io/yaml` does. An empty text is null. */
export function readYaml(text: string, options: ReadYamlOptions = {}): Value {
  const source = firstDocument(text);
  const rules = plainRules(options);
  const plain = rules && readPlain(source, rules);
  if (plain !== undefined) return plain;
  try {
    const documents = construct(source, options, true);
    if (documents.length === 0 ? !onlyComments.test(source) : beginsWithEnd.test(source))
      throw new YamlError('yaml: did not find expected node content');
    return finished(documents[0] ?? null, options);
  } catch (error) {
    // Only what has a place in the text is a matter of syntax; limits are limits to both readers.
    const isSyntax = error instanceof YamlError && error.line !== undefined && !error.isLimit;
    const value = isSyntax && source.length <= longestLenient ? readLenient(source, rulesFor(options)) : undefined;
    if (value === undefined) throw error;
    return value;
  }
}

/** Reads every document of a text. */
export function readAllYaml(text: string, options: ReadYamlOptions = {}): Value[] {
  return construct(text, options).map((document) => finished(document, options));
}

/** For what charts, values and manifests are read with. */
function plainRules({
  dialect = 'v2',
  numbers = 'float64',
  timestamp,
  keepText = false,
}: ReadYamlOptions): PlainRules | undefined {
  if (dialect !== 'v2' || timestamp !== undefined || keepText) return undefined;
  return numbers === 'int' ? integerRules : helmRules;
}

function rulesWith(numbers: 'float64' | 'int'): PlainRules {
  return {
    plain: (text) => plainValue(text, { numbers }),
    plainKey: (text) => keyText(resolvePlain(text).value, 'v2'),
    strict: (text) => finished(construct(text, { numbers })[0], { numbers }),
    strictKey: (text) => keyText(construct(text, { numbers })[0], 'v2'),
  };
}

export const helmRules = rulesWith('float64');
const integerRules = rulesWith('int');

/** A marker at the start of a line ends a document wherever it stands: what follows need not even be YAML. */
function firstDocument(text: string): string {
  if (!text.includes('---')) return text;
  const marker = /^---(?=[ \t\r\n]|$)/gm;
  let match = marker.exec(text);
  // The first one may only begin the document.
  if (match && text.slice(0, match.index).split('\n').every(saysNothing)) match = marker.exec(text);
  return match ? text.slice(0, match.index) : text;
}

/** An empty document. A tab is no space. */
const onlyComments = /^\ufeff?(?: *(?:#.*)?(?:\r?\n|\r|$))*$/;
const beginsWithEnd = /^\ufeff?(?: *(?:#.*)?(?:\r?\n|\r))*\.\.\.(?:\s|$)/;

function saysNothing(line: string): boolean {
  return line.startsWith('%') || /^\s*(?:#|$)/.test(line);
}

/** With `firstOnly`, what stands after the first document is no matter. */
function construct(text: string, options: ReadYamlOptions, firstOnly = false): unknown[] {
  if (text.length > longestStrict)
    throw new YamlError(
      `yaml: ${text.length} characters that are not all plain mappings, lists and texts; at most ${longestStrict} are read`,
    );
  merged = 0;
  try {
    const { source, events } = scan(
      text.startsWith('\ufeff') ? text.slice(1) : text,
      options.dialect ?? 'v2',
      firstOnly,
    );
    const documents = jsYaml().constructFromEvents(events, {
      source,
      schema: schemaFor(options),
      json: true,
    });
    // Aliases share what they point to, and templates change maps in place.
    return source.includes('*') ? unshare(documents) : documents;
  } catch (error) {
    if (error instanceof jsYaml().YAMLException) throw scanError(error);
    throw error;
  }
}

function unshare(documents: unknown[]): unknown[] {
  const seen = new Set<object>();
  /** What is being copied, from the outside in. */
  const open = new Set<object>();
  let nodes = 0;
  const copy = (value: Value, repeated: boolean): Value => {
    // Every map has a table of its own, even an empty one.
    nodes += value instanceof Map ? 5 : 1;
    if (nodes > maxNodes) throw new YamlError('yaml: document contains excessive aliasing');
    if (!Array.isArray(value) && !(value instanceof Map)) return value;
    if (open.has(value)) throw new YamlError('yaml: an anchor contains itself');
    const again = repeated || seen.has(value);
    seen.add(value);
    open.add(value);
    const copied = Array.isArray(value) ? copyList(value, again) : copyMap(value, again);
    open.delete(value);
    return copied;
  };
  const copyList = (list: Value[], again: boolean): Value[] => {
    const items = list.map((item) => copy(item, again));
    if (again) return items;
    for (const [index, item] of items.entries()) list[index] = item;
    return list;
  };
  const copyMap = (map: GoMap, again: boolean): GoMap => {
    const target: GoMap = again ? new Map() : map;
    for (const [key, item] of map) target.set(key, copy(item, again));
    return target;
  };
  return documents.map((document) => copy(document as Value, false));
}

function rulesFor(options: ReadYamlOptions): NodeRules {
  const { dialect = 'v2' } = options;
  return {
    plain: (text) => plainValue(text, options),
    plainKey: (text) => keyText(resolvePlain(text, dialect).value, dialect),
    key: (value) => keyText(value, dialect),
    merge: (map, value) => mergeInto(map, value, dialect),
    mostNodes: maxNodes,
  };
}

function plainValue(text: string, options: ReadYamlOptions): Value {
  return finished(resolvePlain(text, options.dialect).value, options);
}

/** What a scalar is as a value. As a key an integer keeps all its digits, and infinity has a name. */
function finished(value: unknown, { numbers = 'float64' }: ReadYamlOptions): Value {
  if (value === mergeKey) return '<<';
  if (numbers === 'int') return value as Value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new YamlError(`json: unsupported value: ${formatFloat(value, 'g')}`);
  return value as Value;
}

const schemas = new Map<unknown, Map<string, JsYaml.Schema>>();

function schemaFor(options: ReadYamlOptions): JsYaml.Schema {
  const { dialect = 'v2', numbers = 'float64', keepText = false, timestamp } = options;
  let family = schemas.get(timestamp);
  if (!family) schemas.set(timestamp, (family = new Map()));
  const key = `${dialect} ${numbers} ${keepText}`;
  let schema = family.get(key);
  if (!schema) family.set(key, (schema = makeSchema({ dialect, numbers, keepText, timestamp })));
  return schema;
}

interface SchemaOptions extends Required<Omit<ReadYamlOptions, 'timestamp'>> {
  readonly timestamp: ReadYamlOptions['timestamp'];
}

function makeSchema({ dialect, numbers, keepText, timestamp }: SchemaOptions): JsYaml.Schema {
  const { defineMappingTag, defineScalarTag, defineSequenceTag, NOT_RESOLVED, Schema } = jsYaml();
  const never = () => false;
  const kept = (source: string, value: Value) => (keepText ? new PlainScalar(source, value) : value);
  const scalarTag = (name: string, wanted: readonly string[], first: string) =>
    defineScalarTag<unknown>(`tag:yaml.org,2002:${name}`, {
      implicit: true,
      implicitFirstChars: [...runes(first), ...(name === 'null' ? [''] : [])],
      identify: never,
      resolve: (source) => {
        const resolved = resolvePlain(source, dialect);
        if (!wanted.includes(resolved.tag)) return NOT_RESOLVED;
        if (name === 'float' && resolved.tag === 'int') return kept(source, Number(resolved.value));
        if (name === 'timestamp') return kept(source, timestamp!(source));
        return kept(source, resolved.value);
      },
    });
  const text = defineScalarTag<string>('tag:yaml.org,2002:str', { identify: never, resolve: (source) => source });
  const foreign = defineScalarTag<unknown>('!', {
    matchByTagPrefix: true,
    identify: never,
    resolve: (source) => source,
  });
  const binary = defineScalarTag<unknown>('tag:yaml.org,2002:binary', {
    identify: never,
    resolve: (source) => {
      const encoded = source.replace(/[\r\n]/g, '');
      if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded))
        throw new YamlError('yaml: !!binary value contains invalid base64 data');
      return bytesToText(Buffer.from(encoded, 'base64'));
    },
  });
  const merge = defineScalarTag<unknown>('tag:slipway.dev,2026:merge', {
    implicit: true,
    implicitFirstChars: ['<'],
    identify: never,
    resolve: (source) => (source === '<<' ? mergeKey : NOT_RESOLVED),
  });
  const sequence = (name: string, matchByTagPrefix = false) =>
    defineSequenceTag<Value[]>(name, {
      matchByTagPrefix,
      identify: never,
      create: () => [],
      addItem: (items, item) => {
        items.push(finished(item, { numbers }));
      },
    });
  const mapping = (name: string, matchByTagPrefix = false) =>
    defineMappingTag<GoMap>(name, {
      matchByTagPrefix,
      identify: never,
      create: () => new Map(),
      addPair: (map, key, value) => {
        if (key === mergeKey) {
          return (dialect === 'v3' && repeatedKey(map, '<<')) || mergeInto(map, value as Value, dialect);
        }
        const name = keyText(key, dialect);
        if (name === undefined) return 'a key must be a string, a number or a boolean';
        const repeated = dialect === 'v3' && repeatedKey(map, name);
        if (repeated) return repeated;
        map.set(name, finished(value, { numbers }));
        return '';
      },
      has: (map, key) => map.has(keyText(key, dialect) ?? ''),
      keys: (map) => map.keys(),
      get: (map, key) => map.get(keyText(key, dialect) ?? ''),
    });
  return new Schema([
    text,
    sequence('tag:yaml.org,2002:seq'),
    mapping('tag:yaml.org,2002:map'),
    merge,
    scalarTag('null', ['null'], '~nN'),
    scalarTag('bool', ['bool'], 'yYnNtTfFoO'),
    scalarTag('int', ['int'], '+-0123456789'),
    scalarTag('float', ['float', 'int'], '+-.0123456789'),
    timestamp
      ? scalarTag('timestamp', ['timestamp'], '0123456789')
      : defineScalarTag<unknown>('tag:yaml.org,2002:timestamp', { identify: never, resolve: (source) => source }),
    binary,
    foreign,
    sequence('!', true),
    mapping('!', true),
  ]);
}

/** The keys written in a mapping itself, as opposed to those merged into it. */
const ownKeys = new WeakMap<GoMap, Set<string>>();

/** What go-yaml v3 says of a key that is written twice. */
function repeatedKey(map: GoMap, key: string): string {
  const known = ownKeys.get(map) ?? new Set();
  if (known.has(key)) return `mapping key "${key}" ${alreadyDefined}`;
  ownKeys.set(map, known.add(key));
  return '';
}

let merged = 0;

/** What `<<` is read as; it means something as a key only. */
const mergeKey = Symbol('<<');

/** go-yaml v2 merges where the key stands, so that it may cover what was written before; v3 never covers anything. */
function mergeInto(map: GoMap, value: Value, dialect: YamlDialect): string {
  // Reading is synchronous: what is counted belongs to the text that is being read.
  const list = Array.isArray(value) ? value : [value];
  const sources = dialect === 'v2' ? list.toReversed() : list;
  for (const source of sources) {
    if (!(source instanceof Map)) return 'map merge requires map or sequence of maps as the value';
    merged += 1 + source.size;
    if (merged > maxMerged) throw new YamlError(`yaml: more than ${maxMerged} entries are merged`);
    for (const [key, item] of source) if (dialect === 'v2' || !map.has(key)) map.set(key, item);
  }
  return '';
}

/** Keys become strings on the way to JSON. */
function keyText(key: unknown, dialect: YamlDialect): string | undefined {
  switch (typeof key) {
    case 'string':
      return key;
    case 'boolean':
      return String(key);
    case 'bigint':
      return dialect === 'v2' && key > largestKey ? undefined : String(key);
    case 'number':
      if (dialect === 'v2') return floatKey(key);
      return Number.isSafeInteger(key) ? String(key) : formatFloat(key, 'g');
    case 'object':
      return key instanceof PlainScalar ? key.text : undefined;
    default:
      return undefined;
  }
}

const largestKey = (1n << 63n) - 1n;

/** With as many digits as tell it from other floats of 32 bits. */
function floatKey(key: number): string {
  const single = Math.fround(key);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  let short = single;
  for (let digits = 1; digits < 10 && single !== 0; digits += 1) {
    short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) break;
  }
  return formatFloat(short, 'g');
}
