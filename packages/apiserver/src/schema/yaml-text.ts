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
  const document = reader.parseDocument(text, {
    version: '1.1',
    merge: true,
    uniqueKeys: true,
    logLevel: 'silent',
    customTags: (tags) =>
      tags.filter((tag) => {
        if (typeof tag === 'string') return true;
        return !textInGo.has(tag.tag) && tag.format !== 'TIME';
      }),
  });
  const strictErrors: string[] = [];
  for (const error of document.errors) {
    const line = error.linePos?.[0].line ?? 1;
    if (error.code === 'DUPLICATE_KEY') {
      const key = /^\s*["']?([^:"'\n]*?)["']?\s*:/.exec(text.slice(error.pos[0]))?.[1] ?? '';
      strictErrors.push(`  line ${line}: key ${JSON.stringify(key)} already set in map`);
    } else throw new YamlSyntaxError(`yaml: line ${line}: ${error.message.split('\n')[0]}`);
  }
  const value = toJson(document.toJS({ maxAliasCount: 100 }));
  return {
    value,
    strictErrors: strictErrors.length === 0 ? [] : [`yaml: unmarshal errors:\n${strictErrors.join('\n')}`],
  };
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
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value !== 'object') return value as Json;
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item, depth + 1)]));
}
