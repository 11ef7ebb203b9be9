import type { YamlDialect } from './resolve.ts';
import { TokenScanner, type Token, type TokenType } from './token-scanner.ts';
import { YamlError } from './yaml-error.ts';

/** What go-yaml's parser makes of tokens: documents as trees. What the scalars in them mean is not its matter. */

export type Node = ScalarNode | ListNode | MapNode | AliasNode;

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly line: number;
  readonly text: string;
  /** In full; empty when none was written. */
  readonly tag: string;
  /** Nothing says that it is a text. */
  readonly isPlain: boolean;
}

export interface ListNode {
  readonly kind: 'list';
  readonly line: number;
  readonly items: readonly Node[];
}

export interface MapNode {
  readonly kind: 'map';
  readonly line: number;
  /** Keys and values in turn. */
  readonly content: readonly Node[];
}

export interface AliasNode {
  readonly kind: 'alias';
  readonly line: number;
  readonly name: string;
  readonly target: Node;
}

/** Deeper nesting is an attack, not a document. */
const maxDepth = 1000;

const defaultHandles: readonly (readonly [string, string])[] = [
  ['!', '!'],
  ['!!', 'tag:yaml.org,2002:'],
];

/** The first document of a text; nothing when there is none. What stands after it is not looked at. */
export function composeFirst(text: string, dialect: YamlDialect): Node | undefined {
  return new Composer(text, dialect).next();
}

/** Every document of a text. */
export function composeAll(text: string, dialect: YamlDialect): Node[] {
  const composer = new Composer(text, dialect);
  const documents: Node[] = [];
  for (let node = composer.next(); node; node = composer.next()) documents.push(node);
  return documents;
}

const contentEnds = new Set<TokenType>([
  'version directive',
  'tag directive',
  'document start',
  'document end',
  'stream end',
]);
const noKey = new Set<TokenType>(['key', 'value', 'block end']);
const noFlowPart = new Set<TokenType>(['flow entry', 'flow mapping end']);
const noPairPart = new Set<TokenType>(['flow entry', 'flow sequence end']);

class Composer {
  readonly #tokens: TokenScanner;
  readonly #dialect: YamlDialect;
  readonly #handles = new Map<string, string>();
  readonly #anchors = new Map<string, Node>();
  #isFirst = true;
  #depth = 0;

  constructor(text: string, dialect: YamlDialect) {
    this.#tokens = new TokenScanner(text, dialect);
    this.#dialect = dialect;
  }

  next(): Node | undefined {
    const tokens = this.#tokens;
    if (!this.#isFirst) while (tokens.peek().type === 'document end') tokens.skip();
    const { type } = tokens.peek();
    if (type === 'stream end') return undefined;
    this.#anchors.clear();
    this.#handles.clear();
    const isBare = this.#isFirst && !contentStarts(type);
    this.#isFirst = false;
    this.#directives();
    let node: Node;
    if (isBare) node = this.#node(true, false);
    else {
      const token = tokens.peek();
      if (token.type !== 'document start') this.#fail('did not find expected <document start>', token);
      tokens.skip();
      const content = tokens.peek();
      node = contentEnds.has(content.type) ? empty(content.line) : this.#node(true, false);
    }
    if (tokens.peek().type === 'document end') tokens.skip();
    return node;
  }

  #fail(problem: string, { line }: Token): never {
    throw this.#tokens.complaint(problem, line);
  }

  #take(type: TokenType): boolean {
    if (this.#tokens.peek().type !== type) return false;
    this.#tokens.skip();
    return true;
  }

  #directives(): void {
    let hasVersion = false;
    for (;;) {
      const token = this.#tokens.peek();
      if (token.type === 'version directive') {
        if (hasVersion) this.#fail('found duplicate %YAML directive', token);
        if (token.value !== '1.1' && this.#dialect === 'v2') this.#fail('found incompatible YAML document', token);
        hasVersion = true;
      } else if (token.type === 'tag directive') {
        if (this.#handles.has(token.value)) this.#fail('found duplicate %TAG directive', token);
        this.#handles.set(token.value, token.suffix);
      } else break;
      this.#tokens.skip();
    }
    for (const [handle, prefix] of defaultHandles) if (!this.#handles.has(handle)) this.#handles.set(handle, prefix);
  }

  #node(isBlock: boolean, mayBeIndentless: boolean): Node {
    this.#depth += 1;
    const first = this.#tokens.peek();
    if (this.#depth > maxDepth) throw new YamlError(`yaml: line ${first.line + 1}: exceeded max depth of ${maxDepth}`);
    const node = first.type === 'alias' ? this.#alias(first) : this.#content(first, isBlock, mayBeIndentless);
    this.#depth -= 1;
    return node;
  }

  #alias({ line, value }: Token): AliasNode {
    this.#tokens.skip();
    const target = this.#anchors.get(value);
    if (!target) throw new YamlError(`yaml: unknown anchor '${value}' referenced`);
    return { kind: 'alias', line, name: value, target };
  }

  #content(first: Token, isBlock: boolean, mayBeIndentless: boolean): Node {
    const { line } = first;
    let anchor: string | undefined;
    let tagToken: Token | undefined;
    const takeAnchor = () => {
      const token = this.#tokens.peek();
      if (this.#take('anchor')) anchor = token.value;
    };
    const takeTag = () => {
      const token = this.#tokens.peek();
      if (this.#take('tag')) tagToken = token;
    };
    if (first.type === 'anchor') {
      takeAnchor();
      takeTag();
    } else if (first.type === 'tag') {
      takeTag();
      takeAnchor();
    }
    const tag = tagToken ? this.#tag(tagToken) : '';
    /** Known by its name from its beginning on: what is in it may refer to it. */
    const named = <T extends Node>(node: T): T => {
      if (anchor !== undefined) this.#anchors.set(anchor, node);
      return node;
    };
    const token = this.#tokens.peek();
    switch (token.type) {
      case 'block entry':
        if (!mayBeIndentless) break;
        return this.#items(named(list(line)), (items) => this.#indentless(items));
      case 'scalar': {
        const isPlain = (tag === '' && token.isPlain) || tag === '!';
        this.#tokens.skip();
        return named({ kind: 'scalar', line, text: token.value, tag, isPlain });
      }
      case 'flow sequence start':
        return this.#items(named(list(line)), (items) => this.#flowList(items));
      case 'flow mapping start':
        return this.#entries(named(map(line)), (content) => this.#flowMap(content));
      case 'block sequence start':
        if (!isBlock) break;
        return this.#items(named(list(line)), (items) => this.#blockList(items));
      case 'block mapping start':
        if (!isBlock) break;
        return this.#entries(named(map(line)), (content) => this.#blockMap(content));
    }
    if (anchor !== undefined || tag !== '') return named({ kind: 'scalar', line, text: '', tag, isPlain: tag === '' });
    return this.#fail('did not find expected node content', token);
  }

  #items(node: ListNode, read: (items: Node[]) => void): ListNode {
    read(node.items as Node[]);
    return node;
  }

  #entries(node: MapNode, read: (content: Node[]) => void): MapNode {
    read(node.content as Node[]);
    return node;
  }

  #tag(token: Token): string {
    if (token.value === '') return token.suffix;
    const prefix = this.#handles.get(token.value);
    const tag = prefix === undefined ? '' : prefix + token.suffix;
    return tag === '' ? this.#fail('found undefined tag handle', token) : tag;
  }

  /** What stands here, unless it is one of these. */
  #nodeUnless(absent: ReadonlySet<TokenType>, isBlock: boolean): Node {
    const token = this.#tokens.peek();
    return absent.has(token.type) ? empty(token.line) : this.#node(isBlock, isBlock);
  }

  #blockList(items: Node[]): void {
    this.#tokens.skip();
    while (!this.#take('block end')) {
      const token = this.#tokens.peek();
      if (!this.#take('block entry')) this.#fail("did not find expected '-' indicator", token);
      const next = this.#tokens.peek();
      const isEmpty = next.type === 'block entry' || next.type === 'block end';
      items.push(isEmpty ? empty(token.line) : this.#node(true, false));
    }
  }

  /** A list in the column of its key. */
  #indentless(items: Node[]): void {
    for (;;) {
      const token = this.#tokens.peek();
      if (!this.#take('block entry')) return;
      const { type } = this.#tokens.peek();
      items.push(type === 'block entry' || noKey.has(type) ? empty(token.line) : this.#node(true, false));
    }
  }

  #blockMap(content: Node[]): void {
    this.#tokens.skip();
    while (!this.#take('block end')) {
      const token = this.#tokens.peek();
      if (!this.#take('key')) this.#fail('did not find expected key', token);
      content.push(this.#nodeUnless(noKey, true));
      const value = this.#tokens.peek();
      content.push(this.#take('value') ? this.#nodeUnless(noKey, true) : empty(value.line));
    }
  }

  #flowList(items: Node[]): void {
    this.#tokens.skip();
    for (let isFirst = true; ; isFirst = false) {
      this.#separator("did not find expected ',' or ']'", 'flow sequence end', isFirst);
      const token = this.#tokens.peek();
      if (this.#take('flow sequence end')) return;
      if (this.#take('key')) items.push({ kind: 'map', line: token.line, content: this.#pair() });
      else items.push(this.#node(false, false));
    }
  }

  /** `[a: b]`. Where go-yaml misses the key it passes over what stands in its place. */
  #pair(): Node[] {
    const token = this.#tokens.peek();
    const hasKey = token.type !== 'value' && !noPairPart.has(token.type);
    if (!hasKey) this.#tokens.skip();
    const key = hasKey ? this.#node(false, false) : empty(token.line);
    const at = this.#tokens.peek();
    return [key, this.#take('value') ? this.#nodeUnless(noPairPart, false) : empty(at.line)];
  }

  #flowMap(content: Node[]): void {
    this.#tokens.skip();
    for (let isFirst = true; ; isFirst = false) {
      this.#separator("did not find expected ',' or '}'", 'flow mapping end', isFirst);
      if (this.#take('flow mapping end')) return;
      if (!this.#take('key')) {
        content.push(this.#node(false, false), empty(this.#tokens.peek().line));
        continue;
      }
      const { type } = this.#tokens.peek();
      content.push(type === 'value' ? empty(this.#tokens.peek().line) : this.#nodeUnless(noFlowPart, false));
      const at = this.#tokens.peek();
      content.push(this.#take('value') ? this.#nodeUnless(noFlowPart, false) : empty(at.line));
    }
  }

  #separator(problem: string, end: TokenType, isFirst: boolean): void {
    const token = this.#tokens.peek();
    if (!isFirst && token.type !== end && !this.#take('flow entry')) this.#fail(problem, token);
  }
}

function contentStarts(type: TokenType): boolean {
  return type === 'version directive' || type === 'tag directive' || type === 'document start';
}

function list(line: number): ListNode {
  return { kind: 'list', line, items: [] };
}

function map(line: number): MapNode {
  return { kind: 'map', line, content: [] };
}

function empty(line: number): ScalarNode {
  return { kind: 'scalar', line, text: '', tag: '', isPlain: true };
}
