import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type { GoMap, Value } from '../go/values.ts';

const require = createRequire(import.meta.url);

/** Loaded by the first text that the strict reader refuses. */
const yaml = () => require('yaml') as typeof Yaml;

/** How a plain scalar, a key and a merge are read; the strict reader's rules. */
export interface NodeRules {
  readonly plain: (text: string) => Value;
  readonly plainKey: (text: string) => string | undefined;
  readonly key: (value: Value) => string | undefined;
  readonly merge: (map: GoMap, value: Value) => string;
  readonly mostNodes: number;
}

/**
 * Reads one document as go-yaml's scanner would, which does not mind a closing bracket in the column of its key, or a
 * quoted text that continues there. Slower than the strict reader, so it is asked only for what that one refuses.
 * Answers `undefined` when this is no YAML to anybody.
 */
export function readLenient(text: string, rules: NodeRules): Value | undefined {
  const document = yaml().parseDocument(text, {
    version: '1.1',
    schema: 'failsafe',
    uniqueKeys: false,
    strict: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  if (document.errors.length > 0) return undefined;
  return new Converter(rules).value(document.contents);
}

class Converter {
  readonly #rules: NodeRules;
  readonly #yaml = yaml();
  /** What each name stands for, as far as the text has been read: asking the document walks all of it. */
  readonly #anchors = new Map<string, Yaml.Node>();
  readonly #open = new Set<Yaml.Node>();
  #nodes = 0;

  constructor(rules: NodeRules) {
    this.#rules = rules;
  }

  value(node: unknown): Value {
    this.#nodes += 1;
    if (this.#nodes > this.#rules.mostNodes) throw new Error('yaml: document contains excessive aliasing');
    if (node === null || node === undefined) return null;
    if (this.#yaml.isAlias(node)) return this.#alias(node);
    if (this.#yaml.isNode(node) && 'anchor' in node && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (this.#yaml.isScalar(node)) {
      const type = /^tag:yaml\.org,2002:(int|float|bool|null)$/.exec(node.tag ?? '')?.[1];
      if (type) throw new Error(`yaml: cannot decode !!str \`${String(node.value)}\` as a !!${type}`);
      const text = textOf(node);
      return isPlain(node) ? this.#rules.plain(text) : text;
    }
    if (this.#yaml.isSeq(node)) return node.items.map((item) => this.value(item));
    if (this.#yaml.isMap(node)) {
      const map: GoMap = new Map();
      for (const { key, value } of node.items) this.#pair(map, key as Yaml.Node, value as Yaml.Node);
      return map;
    }
    return null;
  }

  #alias({ source }: Yaml.Alias): Value {
    const node = this.#anchors.get(source);
    if (!node) throw new Error(`yaml: unknown anchor '${source}' referenced`);
    if (this.#open.has(node)) throw new Error(`yaml: anchor '${source}' value contains itself`);
    this.#open.add(node);
    const value = this.value(node);
    this.#open.delete(node);
    return value;
  }

  #pair(map: GoMap, key: Yaml.Node, value: Yaml.Node): void {
    if (this.#yaml.isScalar(key) && key.type === 'PLAIN' && key.value === '<<') {
      const complaint = this.#rules.merge(map, this.value(value));
      if (complaint !== '') throw new Error(`yaml: ${complaint}`);
      return;
    }
    const isName = this.#yaml.isScalar(key) && isPlain(key);
    const name = isName ? this.#rules.plainKey(textOf(key)) : this.#rules.key(this.value(key));
    if (name === undefined) throw new Error('yaml: a key must be a string, a number or a boolean');
    map.set(name, this.value(value));
  }
}

function textOf({ value }: Yaml.Scalar): string {
  return typeof value === 'string' ? value : String(value ?? '');
}

function isPlain({ type, tag }: Yaml.Scalar): boolean {
  return type === 'PLAIN' && tag === undefined;
}
