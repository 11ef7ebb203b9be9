import { integerOf } from '../big-integer.ts';
import type * as yaml from 'yaml';
import type { Json } from '../object.ts';
import { maxDepth, parseJson } from './json-text.ts';

let reader: typeof yaml | undefined;

/** Loads the reader of YAML. Most requests are JSON, so a server does not start with it; who has YAML waits for this before. */
export function loadYaml(): Promise<void> | undefined {
  return reader ? undefined : import('yaml').then((module) => void (reader = module));
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

/** Tags of YAML 1.1 that Go's YAML reader leaves as text: times of day, dates, and collections beyond maps and lists. */
const textInGo = new Set(['tag:yaml.org,2002:timestamp', 'tag:yaml.org,2002:set', 'tag:yaml.org,2002:omap']);

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
    // Deep nesting exhausts the stack of the reader, too many aliases make it throw.
    throw new YamlSyntaxError(error instanceof RangeError ? 'exceeded max depth' : (error as Error).message);
  }
}

function read(text: string): ParsedYaml {
  guardDepth(text);
  if (!reader) throw new Error('the reader of YAML is not loaded');
  const lineCounter = new reader.LineCounter();
  const document = reader.parseDocument(text, {
    version: '1.1',
    merge: true,
    // It would compare every key with every other one of its map.
    uniqueKeys: false,
    lineCounter,
    logLevel: 'silent',
    // Only where there is one that would be rounded: it makes every number a slow one.
    intAsBigInt: /\d{16}/.test(text),
    customTags: (tags) =>
      tags.filter((tag) => {
        if (typeof tag === 'string') return true;
        return !textInGo.has(tag.tag) && tag.format !== 'TIME';
      }),
  });
  const [error] = document.errors;
  if (error) throw new YamlSyntaxError(`yaml: line ${error.linePos?.[0].line ?? 1}: ${error.message.split('\n')[0]}`);
  const repeated = repeatedKeys(document, reader).map(
    ({ key, offset }) => `  line ${lineCounter.linePos(offset).line}: key ${JSON.stringify(key)} already set in map`,
  );
  const value = toJson(document.toJS({ maxAliasCount: 100 }));
  return {
    value,
    strictErrors: repeated.length === 0 ? [] : [`yaml: unmarshal errors:\n${repeated.join('\n')}`],
  };
}

/** Keys that stand in their map before. Throws when there are more aliases than the reader can resolve in reasonable time. */
function repeatedKeys(document: yaml.Document, { visit, isScalar }: typeof yaml): { key: string; offset: number }[] {
  const repeated: { key: string; offset: number }[] = [];
  const seen = new Map<unknown, Set<unknown>>();
  let aliases = 0;
  visit(document, {
    Alias() {
      aliases += 1;
      if (aliases > maxAliases) throw new YamlSyntaxError('yaml: document contains excessive aliasing');
    },
    Pair(_, { key }, path) {
      if (!isScalar(key) || key.value === '<<') return;
      const map = path.at(-1);
      let keys = seen.get(map);
      if (!keys) seen.set(map, (keys = new Set()));
      if (!keys.has(key.value)) keys.add(key.value);
      else if (repeated.length < maxRepeatedKeys) {
        repeated.push({ key: String(key.value), offset: key.range?.[0] ?? 0 });
      }
    },
  });
  return repeated;
}

/** The reader is recursive; text that opens more flow collections than it could read is refused before. */
function guardDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > maxDepth) throw new YamlSyntaxError('exceeded max depth');
    } else if (code === 0x5d || code === 0x7d) depth = Math.max(0, depth - 1);
  }
}

function toJson(value: unknown, depth = 0): Json {
  if (depth > maxDepth) throw new YamlSyntaxError('exceeded max depth');
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new YamlSyntaxError(`json: unsupported value: ${value}`);
    return value;
  }
  if (typeof value === 'bigint') return integerOf(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value !== 'object') return value as Json;
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item, depth + 1)]));
}
