import { createRequire } from 'node:module';
import type * as JsYaml from 'js-yaml';
import { bytesToText, runes } from '../go/bytes.ts';
import { formatFloat } from '../go/float.ts';
import type { GoMap, Value } from '../go/values.ts';
import { readLenient, type NodeRules } from './read-lenient.ts';
import { readPlain, type PlainRules } from './read-plain.ts';
import { resolvePlain, type YamlDialect } from './resolve.ts';

const require = createRequire(import.meta.url);

/** Loaded by the first text that is not plain: most charts have none. */
const jsYaml = () => require('js-yaml') as typeof JsYaml;

/** Text that is no YAML, or YAML that has no JSON form. */
export class YamlError extends Error {
  /** Starts at 1. */
  readonly line: number | undefined;
  /** The text may be YAML, but it is more than anyone reads. */
  readonly isLimit: boolean;

  constructor(message: string, line?: number, isLimit = false) {
    super(message);
    this.name = 'YamlError';
    this.line = line;
    this.isLimit = isLimit;
  }
}

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
const maxDepth = 1000;
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
    return plainItem(construct(source, options, true)[0] ?? null);
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
  return construct(text, options) as Value[];
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
    plain: (text) => plainValue(text, 'v2', numbers),
    key: keyText,
    strict: (text) => construct(text, { numbers })[0] as Value,
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
    const { source, events } = parse(
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
    if (error instanceof jsYaml().YAMLException) throw yamlError(error);
    throw error;
  }
}

type Events = ReturnType<typeof JsYaml.parseEvents>;

/** How often a text is mended before it is somebody else's; a long one is read once more only. */
const mostRepairs = 20;
const longText = 200_000;

/**
 * The parser's events, with what go-yaml's scanner does otherwise: a text in quotes may go on in any column, what stands after the first
 * thing of a document is not looked at, and a block whose last line is cut off ends without a line break.
 */
function parse(text: string, dialect: YamlDialect, firstOnly: boolean): { source: string; events: Events } {
  checkCharacters(text);
  let source = text;
  for (let repairs = 0; ; repairs += 1) {
    try {
      const events = jsYaml().parseEvents(source, { maxDepth });
      if (dialect === 'v2') checkDirectives(events);
      cutLastBlock(source, events);
      return { source, events };
    } catch (error) {
      const mended =
        error instanceof jsYaml().YAMLException && repairs < (text.length > longText ? 1 : mostRepairs)
          ? mend(source, error, firstOnly)
          : undefined;
      if (mended === undefined) throw error;
      source = mended;
    }
  }
}

function mend(source: string, { reason, mark }: JsYaml.YAMLException, firstOnly: boolean): string | undefined {
  if (!mark) return undefined;
  const start = source.lastIndexOf('\n', mark.position - 1) + 1;
  if (reason === 'deficient indentation') {
    const isMarker = /^(?:---|\.\.\.)(?:\s|$)/.test(source.slice(start, start + 4));
    return isMarker ? undefined : `${source.slice(0, start)}${' '.repeat(deepestQuote)}${source.slice(start)}`;
  }
  if (!firstOnly || reason !== 'end of the stream or a document separator is expected') return undefined;
  const content = /^(?:---[ \t]*\n|[ \t]*(?:#.*)?\r?\n)*( *)(.)/.exec(source);
  if (!content) return undefined;
  // What is in brackets is a whole; a mapping or list ends where a line begins further out.
  if (content[2] === '{' || content[2] === '[') return source.slice(0, mark.position);
  const isOutside = source.slice(start, mark.position).trim() === '' && mark.position - start < content[1]!.length;
  return isOutside ? source.slice(0, start) : undefined;
}

/** Columns that are enough for a text in quotes to go on, however deep it began. */
const deepestQuote = 200;

/** go-yaml's reader lets pass what YAML calls printable, and tabs. */
function checkCharacters(text: string): void {
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/.test(text))
    throw new YamlError('yaml: control characters are not allowed');
  if (!text.isWellFormed()) throw new YamlError('yaml: invalid leading UTF-8 octet');
}

function checkDirectives(events: Events): void {
  for (const event of events) {
    if (!('directives' in event)) continue;
    const isForeign = event.directives.some((directive) => directive.kind === 'yaml' && directive.version !== '1.1');
    if (isForeign) throw new YamlError('yaml: found incompatible YAML document');
  }
}

function cutLastBlock(source: string, events: Events): void {
  if (source.endsWith('\n')) return;
  const last = events.findLast((event) => 'chomping' in event);
  const { CHOMPING_MODE, SCALAR_STYLE } = jsYaml();
  const isBlock = last?.style === SCALAR_STYLE.LITERAL_BLOCK || last?.style === SCALAR_STYLE.FOLDED_BLOCK;
  const line = source.slice(source.lastIndexOf('\n') + 1);
  if (last && isBlock && last.valueEnd >= source.length && line.trim() !== '') last.chomping = CHOMPING_MODE.STRIP;
}

function yamlError(error: JsYaml.YAMLException): YamlError {
  const line = error.mark ? error.mark.line + 1 : undefined;
  const reason = error.reason ?? error.message;
  const text = `yaml: ${line === undefined ? '' : `line ${line}: `}${reason}`;
  return new YamlError(text, line, reason.includes('maxDepth'));
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
  const { dialect = 'v2', numbers = 'float64' } = options;
  return {
    plain: (text) => plainValue(text, dialect, numbers),
    key: keyText,
    merge: (map, value) => mergeInto(map, value, dialect),
    mostNodes: maxNodes,
  };
}

function plainValue(text: string, dialect: YamlDialect, numbers: 'float64' | 'int'): Value {
  const resolved = resolvePlain(text, dialect);
  if (resolved.tag === 'float' && numbers === 'float64' && !Number.isFinite(resolved.value))
    throw new YamlError(`json: unsupported value: ${formatFloat(resolved.value, 'g')}`);
  return resolved.tag === 'int' && numbers === 'float64' ? Number(resolved.value) : resolved.value;
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
        return kept(source, plainValue(source, dialect, numbers));
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
        items.push(plainItem(item));
      },
    });
  const mapping = (name: string, matchByTagPrefix = false) =>
    defineMappingTag<GoMap>(name, {
      matchByTagPrefix,
      identify: never,
      create: () => new Map(),
      addPair: (map, key, value) => {
        if (key === mergeKey) {
          if (dialect === 'v3') refuseRepeated(map, '<<');
          return mergeInto(map, value as Value, dialect);
        }
        const name = keyText(key);
        if (name === undefined) return 'a key must be a string, a number or a boolean';
        if (dialect === 'v3') refuseRepeated(map, name);
        map.set(name, plainItem(value));
        return '';
      },
      has: (map, key) => map.has(keyText(key) ?? ''),
      keys: (map) => map.keys(),
      get: (map, key) => map.get(keyText(key) ?? ''),
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

/** go-yaml v3 refuses a key that is written twice. */
function refuseRepeated(map: GoMap, key: string): void {
  const known = ownKeys.get(map) ?? new Set();
  // Thrown, not answered: it is no matter of syntax, so the lenient reader must not try again.
  if (known.has(key)) throw new YamlError(`yaml: mapping key "${key}" already defined`);
  ownKeys.set(map, known.add(key));
}

let merged = 0;

/** What `<<` is read as. */
const mergeKey = Symbol('<<');

/** It means something as a key only. */
function plainItem(value: unknown): Value {
  return value === mergeKey ? '<<' : (value as Value);
}

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
function keyText(key: unknown): string | undefined {
  switch (typeof key) {
    case 'string':
      return key;
    case 'boolean':
    case 'bigint':
      return String(key);
    case 'number':
      return Number.isSafeInteger(key) ? String(key) : formatFloat(key, 'g');
    case 'object':
      return key instanceof PlainScalar ? key.text : undefined;
    default:
      return undefined;
  }
}
