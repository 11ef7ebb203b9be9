import { isUtf8 } from 'node:buffer';
import {
  type Document as YamlDocument,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node as YamlNode,
  Pair,
  parseAllDocuments,
  Scalar,
  Document,
  YAMLMap,
  YAMLSeq,
} from 'yaml';

import { floatText } from '../leaf-bytes.ts';
import { SopsError } from '../sops-error.ts';
import { type Comment, type Documents, type Leaf, Mapping, Sequence, Timestamp, type Value } from '../tree.ts';
import type { Format } from './format.ts';
import { isPlainString, resolvePlain } from './yaml-scalars.ts';

/** YAML, with its comments and order. Anchors are written out, as sops does. */
export const yamlFormat: Format = {
  name: 'yaml',
  readPlain: (bytes) => readDocuments(Buffer.from(bytes).toString('utf8')),
  writePlain: (documents) => Buffer.from(writeDocuments(documents)),
  readEncrypted(bytes) {
    const documents = readDocuments(Buffer.from(bytes).toString('utf8'));
    const block = documents[0]?.get('sops');
    for (const document of documents) {
      document.entries = document.entries.filter((entry) => entry.kind === 'comment' || entry.key !== 'sops');
    }
    return { documents, block: block instanceof Mapping ? block : undefined };
  },
  writeEncrypted(documents, block) {
    const whole = documents.map((document) => {
      const copy = new Mapping();
      copy.entries = [...document.entries, { kind: 'item', key: 'sops', value: block }];
      return copy;
    });
    return Buffer.from(writeDocuments(whole));
  },
};

/** Aliases of aliases grow without bound; nobody writes a file of this many values by hand. */
const maxValues = 500_000;

interface Reading {
  /** Nodes with an anchor, as far as the document has been read. */
  readonly anchors: Map<string, YamlNode>;
  values: number;
  readonly open: Set<YamlNode>;
}

function readDocuments(text: string): Documents {
  const documents = parseAllDocuments(text, {
    schema: 'failsafe',
    merge: false,
    uniqueKeys: true,
    keepSourceTokens: false,
    // What a tag makes of a text is decided below: the library would make a Date of a timestamp and decode binary itself.
    resolveKnownTags: false,
  });
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    const [error] = document.errors;
    // The library quotes the line it stumbled over, which may hold a secret.
    if (error) throw new SopsError('input', `not valid YAML: ${error.code} at ${placeOf(error.linePos?.[0])}`);
    return readDocument(document as YamlDocument);
  });
}

function placeOf(position: { readonly line: number; readonly col: number } | undefined): string {
  return position === undefined ? 'an unknown place' : `line ${position.line}, column ${position.col}`;
}

function readDocument(document: YamlDocument): Mapping {
  const root = document.contents;
  const mapping = new Mapping();
  mapping.entries.push(...commentLines(document.commentBefore));
  if (isMap(root))
    mapping.entries.push(...readMap(root, '', { anchors: new Map(), values: 0, open: new Set() }).entries);
  else if (root !== null && !(isScalar(root) && root.type === 'PLAIN' && root.source === '')) {
    throw new SopsError('input', 'the top level of a YAML document has to be a map');
  } else mapping.entries.push(...commentLines(root?.commentBefore), ...commentLines(root?.comment));
  mapping.entries.push(...commentLines(document.comment));
  return mapping;
}

function readMap(node: YAMLMap, path: string, reading: Reading): Mapping {
  const mapping = new Mapping();
  mapping.entries.push(...commentLines(node.commentBefore));
  for (const { key, value } of node.items as Pair<YamlNode, YamlNode | null>[]) {
    if (!isAlias(key) && key.anchor !== undefined) reading.anchors.set(key.anchor, key);
    const name = keyText(key, path, reading);
    mapping.entries.push(...commentLines(key.commentBefore), ...commentLines(key.comment));
    const scalar = value === null || isScalar(value) || isAlias(value);
    if (scalar) mapping.entries.push(...commentLines(value?.commentBefore), ...commentLines(value?.comment, true));
    mapping.entries.push({
      kind: 'item',
      key: name,
      value: readValue(value, path === '' ? name : `${path}.${name}`, reading),
    });
  }
  mapping.entries.push(...commentLines(node.comment));
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
  if (reading.values > maxValues)
    throw new SopsError('input', `${path}: aliases grow to more than ${maxValues} values`);
  if (node === null) return null;
  if (isAlias(node)) {
    const target = reading.anchors.get(node.source);
    if (target === undefined) throw new SopsError('input', `${path}: there is no anchor '${node.source}' before it`);
    if (reading.open.has(target)) throw new SopsError('input', `${path}: the alias '${node.source}' contains itself`);
    return readValue(target, path, reading);
  }
  if (node.anchor !== undefined) reading.anchors.set(node.anchor, node);
  if (isScalar(node)) return readScalar(node, path);
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
  sequence.elements.push(...commentLines(node.commentBefore));
  node.items.forEach((item, index) => {
    const scalar = isScalar(item) || isAlias(item);
    if (scalar) sequence.elements.push(...commentLines(item.commentBefore), ...commentLines(item.comment, true));
    sequence.elements.push({ kind: 'element', value: readValue(item, `${path}[${index}]`, reading) });
  });
  sequence.elements.push(...commentLines(node.comment));
  return sequence;
}

function readScalar(node: Scalar, path: string): Leaf {
  const text = String(node.value ?? '');
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

function commentLines(text: string | null | undefined, inline = false): Comment[] {
  if (!text) return [];
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ kind: 'comment', text: line, inline }));
}

function writeDocuments(documents: Documents): string {
  return documents
    .map((mapping, index) => {
      const document = new Document(null, { schema: 'failsafe' });
      document.contents = writeMap(mapping) as never;
      const text = escaped(document.toString({ indent: 4, lineWidth: 0, flowCollectionPadding: false }));
      return index === 0 ? text : `---\n${text}`;
    })
    .join('');
}

/**
 * Line ends of YAML 1.1 and what is not printable, as escapes: sops would take the one for a line end and refuse a file with the other.
 * Strings that have them stand in double quotes.
 */
function escaped(text: string): string {
  return text.replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Comments on their way to the node they stand before, at the end of its line, or after the last one. */
class Waiting {
  #own: string[] = [];
  #inline: string[] = [];

  add(comment: Comment): void {
    (comment.inline ? this.#inline : this.#own).push(comment.text);
  }

  giveTo(first: YamlNode, value: YamlNode): void {
    if (this.#own.length > 0) first.commentBefore = this.#own.join('\n');
    if (this.#inline.length === 1 && isScalar(value) && !String(value.value).includes('\n')) {
      value.comment = this.#inline[0]!;
    } else if (this.#inline.length > 0) {
      first.commentBefore = [...this.#own, ...this.#inline].join('\n');
    }
    this.#own = [];
    this.#inline = [];
  }

  closeUnder(collection: YamlNode): void {
    const left = [...this.#own, ...this.#inline];
    if (left.length > 0) collection.comment = left.join('\n');
  }
}

function writeMap(mapping: Mapping): YAMLMap {
  const map = new YAMLMap();
  const waiting = new Waiting();
  for (const entry of mapping.entries) {
    if (entry.kind === 'comment') {
      waiting.add(entry);
      continue;
    }
    const key = keyScalar(entry.key);
    const value = writeValue(entry.value);
    // The library begins a map on the line of the `:` and indents the rest of it otherwise, unless a line stands between.
    if (takesQuestionMark(entry.key)) value.spaceBefore = true;
    waiting.giveTo(key, value);
    map.items.push(new Pair(key, value));
  }
  waiting.closeUnder(map);
  if (map.items.length === 0) map.flow = true;
  return map;
}

function writeSequence(sequence: Sequence): YAMLSeq {
  const seq = new YAMLSeq();
  const waiting = new Waiting();
  for (const element of sequence.elements) {
    if (element.kind === 'comment') {
      waiting.add(element);
      continue;
    }
    const value = writeValue(element.value);
    waiting.giveTo(value, value);
    seq.items.push(value);
  }
  waiting.closeUnder(seq);
  if (seq.items.length === 0) seq.flow = true;
  return seq;
}

function writeValue(value: Value): YamlNode {
  if (value instanceof Mapping) return writeMap(value);
  if (value instanceof Sequence) return writeSequence(value);
  if (value instanceof Uint8Array) {
    const scalar = new Scalar(Buffer.from(value).toString('base64'));
    scalar.tag = 'tag:yaml.org,2002:binary';
    return scalar;
  }
  return typeof value === 'string' ? stringScalar(value) : plainScalar(plainText(value));
}

function plainText(leaf: Exclude<Leaf, string | Uint8Array>): string {
  if (leaf === null) return 'null';
  if (leaf instanceof Timestamp) return leaf.text;
  if (typeof leaf !== 'number') return String(leaf);
  if (Number.isNaN(leaf)) return '.nan';
  if (!Number.isFinite(leaf)) return leaf > 0 ? '.inf' : '-.inf';
  const text = floatText(leaf);
  return text.includes('.') ? text : `${text}.0`;
}

function plainScalar(text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.type = 'PLAIN';
  return scalar;
}

/** YAML reads a key of more than 1024 characters only in the form `? key`, and the library writes it so. */
function takesQuestionMark(key: string): boolean {
  return JSON.stringify(key).length > 1024;
}

/** On one line: a block as a key needs the form `? key`. */
function keyScalar(text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.type = isPlainString(text) ? 'PLAIN' : 'QUOTE_DOUBLE';
  return scalar;
}

function stringScalar(text: string): Scalar {
  const scalar = new Scalar(text);
  // A block cannot carry other line ends or blanks at the end of a line through every editor.
  const block = /\n/.test(text) && !/[\r\u0085\u2028\u2029]|[ \t](\n|$)|^\s/.test(text) && isPrintable(text);
  scalar.type = isPlainString(text) ? 'PLAIN' : block ? 'BLOCK_LITERAL' : 'QUOTE_DOUBLE';
  return scalar;
}

function isPrintable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are the ones
  return !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff\ufffe\uffff]/.test(text);
}
