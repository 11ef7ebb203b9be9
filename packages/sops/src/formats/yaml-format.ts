import { isUtf8 } from 'node:buffer';
import {
  Composer,
  type CST,
  type Document as YamlDocument,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node as YamlNode,
  type Pair,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

import { SopsError } from '../sops-error.ts';
import {
  type Comment,
  type Documents,
  type Element,
  type Item,
  type Leaf,
  Mapping,
  Sequence,
  type Value,
} from '../tree.ts';
import type { Format } from './format.ts';
import { textOf } from './text.ts';
import { maxValues, tooManyValues } from './too-many-values.ts';
import { placeComments } from './yaml-comments.ts';
import { resolvePlain } from './yaml-scalars.ts';
import { writeDocuments, writeValue } from './yaml-writer.ts';

/** YAML, with its comments and order. Anchors are written out, as sops does. */
export const yamlFormat: Format = {
  name: 'yaml',
  readPlain(bytes) {
    const documents = readDocuments(textOf(bytes));
    for (const document of documents) for (const entry of document.entries) settle(entry);
    return documents;
  },
  writePlain: (documents, indent) => Buffer.from(writeDocuments(documents, indent)),
  writeValue: (value) => Buffer.from(writeValue(value)),
  readEncrypted(bytes) {
    const documents = readDocuments(textOf(bytes));
    const block = documents[0]?.get('sops');
    for (const document of documents) {
      document.entries = document.entries.filter((entry) => entry.kind === 'comment' || entry.key !== 'sops');
    }
    return { documents, block: block instanceof Mapping ? block : undefined };
  },
  writeEncrypted(documents, block, indent) {
    const whole = documents.map((document) => {
      const copy = new Mapping();
      copy.entries = [...document.entries, { kind: 'item', key: 'sops', value: block }];
      return copy;
    });
    return Buffer.from(writeDocuments(whole, indent));
  },
};

/** What a file of that many values comes to in words, blanks and line ends. Each costs memory. */
const maxTokens = 6 * maxValues;

interface Reading {
  /** Nodes with an anchor, as far as the document has been read. */
  readonly anchors: Map<string, YamlNode>;
  values: number;
  readonly open: Set<YamlNode>;
  readonly lines: LineCounter;
  /** Where the file ends when no line end does; else beyond. */
  readonly end: number;
}

function readDocuments(text: string): Documents {
  const lines = new LineCounter();
  const tokens = tokensOf(text, lines);
  for (const token of tokens) if (token.type === 'document') placeComments(token.value);
  const composer = new Composer({
    schema: 'failsafe',
    merge: false,
    // The library compares every key with all before it.
    uniqueKeys: false,
    keepSourceTokens: false,
    // What a tag makes of a text is decided below: the library would make a Date of a timestamp and decode binary itself.
    resolveKnownTags: false,
  });
  return [...composer.compose(tokens)].map((document) => {
    const [error] = document.errors;
    // The library quotes the line it stumbled over, which may hold a secret.
    if (error) throw new SopsError('input', `not valid YAML: ${error.code} at ${placeOf(lines.linePos(error.pos[0]))}`);
    return readDocument(document as YamlDocument, lines, text.endsWith('\n') ? Infinity : text.length);
  });
}

function tokensOf(text: string, lines: LineCounter): CST.Token[] {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let read = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    read += 1;
    if (read > maxTokens) throw tooLarge('the file');
    for (const token of parser.next(lexeme)) tokens.push(token);
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function tooLarge(what: string): SopsError {
  return tooManyValues(what, ', with what its aliases stand for');
}

function placeOf({ line, col }: { readonly line: number; readonly col: number }): string {
  return `line ${line}, column ${col}`;
}

function readDocument(document: YamlDocument, lines: LineCounter, end: number): Mapping {
  const root = document.contents;
  const mapping = new Mapping();
  addComments(mapping, document.commentBefore);
  if (isMap(root)) {
    append(mapping, readMap(root, '', { anchors: new Map(), values: 0, open: new Set(), lines, end }).entries);
    addCommentsBelow(mapping, root);
  } else if (root !== null && !(isScalar(root) && root.type === 'PLAIN' && root.source === '')) {
    throw new SopsError('input', 'the top level of a YAML document has to be a map');
  } else {
    addComments(mapping, root?.commentBefore);
    addComments(mapping, root?.comment);
  }
  addComments(mapping, document.comment);
  return mapping;
}

function readMap(node: YAMLMap, path: string, reading: Reading): Mapping {
  const mapping = new Mapping();
  const names = new Set<string>();
  addComments(mapping, node.commentBefore);
  for (const { key, value } of node.items as Pair<YamlNode, YamlNode | null>[]) {
    if (!isAlias(key) && key.anchor !== undefined) reading.anchors.set(key.anchor, key);
    const name = keyText(key, path, reading);
    if (names.has(name)) {
      const place = placeOf(reading.lines.linePos(key.range?.[0] ?? 0));
      throw new SopsError('input', `not valid YAML: DUPLICATE_KEY at ${place}`);
    }
    names.add(name);
    addComments(mapping, key.commentBefore);
    addComments(mapping, key.comment);
    const scalar = value === null || isScalar(value) || isAlias(value);
    if (scalar) {
      addComments(mapping, value?.commentBefore);
      addComments(mapping, value?.comment, true);
    }
    const read = readValue(value, path === '' ? name : `${path}.${name}`, reading);
    if (isEmpty(read)) append(mapping, takeComments(read));
    mapping.entries.push({ kind: 'item', key: name, value: read });
    addCommentsBelow(mapping, value);
  }
  if (node.items.length > 0) addComments(mapping, node.comment);
  return mapping;
}

function keyText(key: YamlNode, path: string, reading: Reading): string {
  const target = isAlias(key) ? reading.anchors.get(key.source) : key;
  if (!isScalar(target)) throw new SopsError('input', `${path || 'the top level'}: only strings can be keys`);
  const resolved = target.type === 'PLAIN' ? resolvePlain(String(target.source ?? ''), path) : String(target.value);
  if (typeof resolved === 'string') return resolved;
  throw new SopsError('input', `${path || 'the top level'}: the key ${String(target.source)} is not a string`, {
    hint: 'write it in quotes',
  });
}

function readValue(node: YamlNode | null, path: string, reading: Reading): Value {
  reading.values += 1;
  if (reading.values > maxValues) throw tooLarge(`${path}: the file`);
  if (node === null) return null;
  if (isAlias(node)) {
    const target = reading.anchors.get(node.source);
    if (target === undefined) throw new SopsError('input', `${path}: there is no anchor '${node.source}' before it`);
    if (reading.open.has(target)) throw new SopsError('input', `${path}: the alias '${node.source}' contains itself`);
    return readValue(target, path, reading);
  }
  if (node.anchor !== undefined) reading.anchors.set(node.anchor, node);
  if (isScalar(node)) return readScalar(node, path, reading.end);
  reading.open.add(node);
  try {
    if (isMap(node)) return readMap(node, path, reading);
    if (isSeq(node)) return readSequence(node as YAMLSeq<YamlNode>, path, reading);
  } finally {
    reading.open.delete(node);
  }
  throw new SopsError('input', `${path}: this kind of YAML value cannot be encrypted`);
}

function readSequence(node: YAMLSeq<YamlNode>, path: string, reading: Reading): Sequence {
  const sequence = new Sequence();
  addComments(sequence, node.commentBefore);
  node.items.forEach((item, index) => {
    const scalar = isScalar(item) || isAlias(item);
    if (scalar) {
      addComments(sequence, item.commentBefore);
      // The library gives a dash without a value the comment above it.
      addComments(sequence, item.comment, !isScalar(item) || item.source !== '');
    }
    const value = readValue(item, `${path}[${index}]`, reading);
    // What stands before a map or list in a list is about all of it: a rule that goes by comments has to see it there.
    if (value instanceof Mapping || value instanceof Sequence) append(sequence, takeComments(value));
    sequence.elements.push({ kind: 'element', value });
    addCommentsBelow(sequence, item);
  });
  if (node.items.length > 0) addComments(sequence, node.comment);
  return sequence;
}

/**
 * Comments that end a map go to the end of what its last key holds: the Go library of sops reads them so, and would not open them where
 * they were. Only for a plain file: sealed comments open where they are.
 */
function settle(part: Comment | Item | Element): void {
  if (part.kind === 'comment') return;
  const { value } = part;
  if (value instanceof Sequence) for (const element of value.elements) settle(element);
  if (!(value instanceof Mapping)) return;
  for (const entry of value.entries) settle(entry);
  const last = value.entries.findLastIndex((entry) => entry.kind === 'item');
  const innermost = endOf(value.entries[last]);
  if (innermost !== undefined) append(innermost, value.entries.splice(last + 1) as Comment[]);
}

/** The innermost map or list that ends where this does, unless a comment of its own is in between. */
function endOf(part: Comment | Item | Element | undefined): Mapping | Sequence | undefined {
  if (part === undefined || part.kind === 'comment') return undefined;
  const { value } = part;
  if (!(value instanceof Mapping || value instanceof Sequence)) return undefined;
  if (partsOf(value).every(({ kind }) => kind === 'comment')) return undefined;
  const last = partsOf(value).at(-1);
  // A sealed comment of a list is an element of it.
  if (last?.kind === 'comment') return value instanceof Sequence ? value : undefined;
  return endOf(last) ?? (endsInComment(last) ? undefined : value);
}

function endsInComment(part: Comment | Item | Element | undefined): boolean {
  if (part === undefined || part.kind === 'comment') return part !== undefined;
  return (part.value instanceof Mapping || part.value instanceof Sequence) && endsInComment(partsOf(part.value).at(-1));
}

function partsOf(value: Mapping | Sequence): (Comment | Item | Element)[] {
  return value instanceof Mapping ? value.entries : value.elements;
}

function isEmpty(value: Value): value is Mapping | Sequence {
  if (!(value instanceof Mapping || value instanceof Sequence)) return false;
  return partsOf(value).every((part) => part.kind === 'comment');
}

/** Takes the comments above the first entry of a map or list out of it. */
function takeComments(value: Mapping | Sequence): Comment[] {
  const parts = partsOf(value);
  const end = parts.findIndex((part) => part.kind !== 'comment' || part.inline);
  return parts.splice(0, end < 0 ? parts.length : end) as Comment[];
}

function readScalar(node: Scalar, path: string, end: number): Leaf {
  const isCut = node.type?.startsWith('BLOCK_') && node.range?.[1] === end;
  // The library gives a block the line end that the file lacks.
  const text = isCut ? String(node.value ?? '').replace(/\n$/, '') : String(node.value ?? '');
  switch (node.tag) {
    case undefined:
    case '!':
      return node.type === 'PLAIN' ? resolvePlain(String(node.source ?? ''), path) : text;
    case 'tag:yaml.org,2002:binary': {
      const bytes = Buffer.from(text, 'base64');
      return isUtf8(bytes) ? bytes.toString() : new Uint8Array(bytes);
    }
    case 'tag:yaml.org,2002:int':
    case 'tag:yaml.org,2002:bool':
    case 'tag:yaml.org,2002:null':
    case 'tag:yaml.org,2002:timestamp':
      return resolvePlain(text, path);
    case 'tag:yaml.org,2002:float': {
      const value = resolvePlain(text, path);
      return typeof value === 'bigint' ? Number(value) : value;
    }
    default:
      return text;
  }
}

function addComments(to: Mapping | Sequence, text: string | null | undefined, inline = false): void {
  if (!text) return;
  const parts = partsOf(to);
  for (const line of text.split(/\r?\n|\r$/)) {
    // The library gives a comment without text a blank, and a line without a comment nothing.
    if (line !== '') parts.push({ kind: 'comment', text: line === ' ' ? '' : line, inline });
  }
}

/** Those of an empty map or list, which has no place for them, stay below it. */
function addCommentsBelow(to: Mapping | Sequence, node: YamlNode | null): void {
  if ((isMap(node) || isSeq(node)) && node.items.length === 0) addComments(to, node.comment);
}

/** One by one: a call takes only so many arguments. */
function append(to: Mapping | Sequence, parts: readonly (Comment | Item)[]): void {
  for (const part of parts) partsOf(to).push(part);
}
