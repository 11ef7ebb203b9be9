import type * as jsYaml from 'js-yaml';
import { isBigInteger } from '../big-integer.ts';
import type { Json, JsonObject } from '../object.ts';
import { maxDepth, parseJson } from './json-text.ts';
import { firstCharacters, plainScalar } from './yaml-scalars.ts';

type YamlReader = typeof jsYaml;

let loaded: { readonly reader: YamlReader; readonly schema: jsYaml.Schema } | undefined;

/** Loads the reader of YAML. Most requests are JSON, so a server does not start with it; who has YAML waits for this before. */
export function loadYaml(): Promise<void> | undefined {
  return loaded ? undefined : import('js-yaml').then((reader) => void (loaded = { reader, schema: goSchema(reader) }));
}

/** YAML that cannot be read. */
export class YamlSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'YamlSyntaxError';
  }
}

export interface ParsedYaml {
  value: Json;
  /** Go's texts about keys that stand twice in one map. */
  strictErrors: string[];
}

const maxAliases = 10_000;
/** Keys named twice are listed up to this many. */
const maxRepeatedKeys = 100;

/**
 * Reads YAML with the rules of version 1.1 (`yes`, `on`, `y` are booleans; `010` is 8), as the real server does. JSON is read as
 * JSON. Throws {@link YamlSyntaxError}. Needs {@link loadYaml} before.
 */
export function parseYaml(text: string): ParsedYaml {
  if (/^\s*\{/.test(text)) {
    try {
      const { value, duplicateFields } = parseJson(text);
      if (duplicateFields.length === 0) return { value, strictErrors: [] };
    } catch {
      // Flow YAML looks like JSON at first sight.
    }
  }
  try {
    return read(text);
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw error;
    // Deep nesting exhausts the stack of the reader.
    throw new YamlSyntaxError(error instanceof RangeError ? 'exceeded max depth' : syntaxText(error as Error));
  }
}

function syntaxText(error: Error): string {
  const { mark, reason } = error as Partial<jsYaml.YAMLException>;
  if (reason?.includes('nesting exceeded')) return 'exceeded max depth';
  return mark ? `yaml: line ${mark.line + 1}: ${reason}` : `yaml: ${reason ?? error.message}`;
}

function read(text: string): ParsedYaml {
  if (!loaded) throw new Error('the reader of YAML is not loaded');
  const { reader, schema } = loaded;
  const source = firstDocument(text.startsWith('\ufeff') ? text.slice(1) : text);
  const events = reader.parseEvents(source, { maxDepth });
  const [constructed = null] = reader.constructFromEvents(events, { source, schema, json: true, maxAliases });
  const value = valueOf(constructed);
  const repeated = repeatedKeys(events, source, reader);
  return {
    value: source.includes('*') ? unshared(value, source.length) : value,
    strictErrors: repeated.length === 0 ? [] : [`yaml: unmarshal errors:\n${repeated.join('\n')}`],
  };
}

/** What follows the first document need not even be YAML. */
function firstDocument(text: string): string {
  const marker = /^---(?=[ \t\r\n]|$)/gm;
  for (let match = marker.exec(text); match; match = marker.exec(text)) {
    if (!/^(?:\s*(?:#.*)?\n|%.*\n)*$/.test(text.slice(0, match.index))) return text.slice(0, match.index);
  }
  return text;
}

/** What `<<` is read as. */
const mergeKey = Symbol('<<');

/** Only a key can merge. */
function valueOf(constructed: unknown): Json {
  return constructed === mergeKey ? '<<' : (constructed as Json);
}

/** Values as Go's reader makes them, and as JSON has them. */
function goSchema({ defineMappingTag, defineScalarTag, defineSequenceTag, NOT_RESOLVED, Schema }: YamlReader) {
  const identify = () => false;
  const standard = (name: string) => `tag:yaml.org,2002:${name}`;
  const resolvePlain = (source: string) => {
    const value = plainScalar(source);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new YamlSyntaxError(
        `json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`,
      );
    }
    return value === undefined ? NOT_RESOLVED : value;
  };
  const text = (name: string) => defineScalarTag(name, { identify, resolve: (source) => source });
  const sequence = (name: string, matchByTagPrefix = false) =>
    defineSequenceTag<Json[]>(name, {
      matchByTagPrefix,
      identify,
      create: () => [],
      addItem(items, item) {
        items.push(valueOf(item));
      },
    });
  const mapping = (name: string, matchByTagPrefix = false) =>
    defineMappingTag<Map<string, Json>, JsonObject>(name, {
      matchByTagPrefix,
      identify,
      create: () => new Map(),
      addPair(map, key, value) {
        if (key === mergeKey) return merge(map, value as Json);
        const name = keyText(key as Json);
        if (name === undefined) return 'invalid map key';
        map.set(name, valueOf(value));
        return '';
      },
      has: (map, key) => map.has(keyText(key as Json) ?? ''),
      keys: (object) => Object.keys(object),
      get: (object, key) => object[keyText(key as Json) ?? ''],
      finalize: (map) => Object.fromEntries(map),
    });
  return new Schema([
    text(standard('str')),
    sequence(standard('seq')),
    mapping(standard('map')),
    mapping(standard('set')),
    defineScalarTag<unknown>('tag:slipway.dev,2026:merge', {
      implicit: true,
      implicitFirstChars: ['<'],
      identify,
      resolve: (source) => (source === '<<' ? mergeKey : NOT_RESOLVED),
    }),
    ...['null', 'bool', 'int', 'float'].map((name, index) =>
      defineScalarTag<unknown>(standard(name), {
        // One of them resolves for all.
        implicit: index === 0,
        implicitFirstChars: firstCharacters,
        identify,
        resolve: resolvePlain,
      }),
    ),
    text(standard('timestamp')),
    defineScalarTag(standard('binary'), {
      identify,
      resolve: (source) => Buffer.from(source.replaceAll(/\s/g, ''), 'base64').toString('latin1'),
    }),
    defineScalarTag('!', { matchByTagPrefix: true, identify, resolve: (source) => source }),
    sequence('!', true),
    mapping('!', true),
  ]);
}

/** Go's reader merges where the key stands: what was written before is covered, what is written later covers. */
function merge(map: Map<string, Json>, value: Json): string {
  for (const source of Array.isArray(value) ? value.toReversed() : [value]) {
    if (typeof source !== 'object' || source === null || Array.isArray(source)) {
      return 'map merge requires map or sequence of maps as the value';
    }
    for (const [key, item] of Object.entries(source)) map.set(key, item as Json);
  }
  return '';
}

/** Keys become strings on the way to JSON. */
function keyText(key: Json): string | undefined {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' || typeof key === 'boolean') return String(key);
  return isBigInteger(key) ? key.rawJSON : undefined;
}

/** Aliases share what they stand for; whoever changes one must not change the other. More nodes than characters is an attack. */
function unshared(value: Json, length: number): Json {
  let left = length + 1000;
  const copy = (item: Json): Json => {
    left -= 1;
    if (left < 0) throw new YamlSyntaxError('yaml: document contains excessive aliasing');
    if (typeof item !== 'object' || item === null || isBigInteger(item)) return item;
    if (Array.isArray(item)) return item.map(copy);
    return Object.fromEntries(Object.entries(item).map(([key, inner]) => [key, copy(inner)]));
  };
  return copy(value);
}

/** Keys that stand in their map before, each with its line. */
function repeatedKeys(events: readonly jsYaml.Event[], source: string, { EVENT_ID }: YamlReader): string[] {
  interface Level {
    /** Absent in lists. */
    readonly keys: Set<string> | undefined;
    atKey: boolean;
  }
  const levels: Level[] = [];
  const repeated: { readonly key: string; readonly offset: number }[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      levels.pop();
      continue;
    }
    const level = levels.at(-1);
    if (level?.keys && level.atKey && event.type === EVENT_ID.SCALAR) {
      const key = source.slice(event.valueStart, event.valueEnd);
      if (key !== '<<' && level.keys.has(key)) repeated.push({ key, offset: event.valueStart });
      else level.keys.add(key);
      if (repeated.length >= maxRepeatedKeys) break;
    }
    if (level) level.atKey = !level.atKey;
    if (event.type === EVENT_ID.MAPPING) levels.push({ keys: new Set(), atKey: true });
    else if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.DOCUMENT) {
      levels.push({ keys: undefined, atKey: false });
    }
  }
  return repeated.map(({ key, offset }) => {
    let line = 1;
    for (let at = source.indexOf('\n'); at >= 0 && at < offset; at = source.indexOf('\n', at + 1)) line += 1;
    return `  line ${line}: key ${JSON.stringify(key)} already set in map`;
  });
}
