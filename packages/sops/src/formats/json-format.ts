import { isMap, isScalar, isSeq, type Node as YamlNode, parseDocument } from 'yaml';

import { SopsError } from '../sops-error.ts';
import { type Leaf, Mapping, Sequence, Timestamp, type Value } from '../tree.ts';
import type { Format } from './format.ts';

/** JSON, in the order it is written in. Comments of other formats are dropped, as JSON has none. */
export const jsonFormat: Format = {
  name: 'json',
  readPlain: (bytes) => [readJson(Buffer.from(bytes).toString('utf8'))],
  writePlain: ([document = new Mapping()]) => Buffer.from(writeJson(document)),
  writeValue: (value) => Buffer.from(jsonText(value, '')),
  readEncrypted(bytes) {
    const document = readJson(Buffer.from(bytes).toString('utf8'));
    const block = document.get('sops');
    document.entries = document.entries.filter((entry) => entry.kind === 'comment' || entry.key !== 'sops');
    return { documents: [document], block: block instanceof Mapping ? block : undefined };
  },
  writeEncrypted([document = new Mapping()], block) {
    const whole = new Mapping();
    whole.entries = [...document.entries, { kind: 'item', key: 'sops', value: block }];
    return Buffer.from(writeJson(whole));
  },
};

/**
 * Node's own parser judges what is JSON, but forgets the order of keys like `"7"` and the digits of large numbers; the YAML parser,
 * of whose language JSON is a part, keeps both.
 */
export function readJson(text: string): Mapping {
  parseJson(text);
  const document = parseDocument(text, { schema: 'failsafe', uniqueKeys: false });
  if (!isMap(document.contents)) throw new SopsError('input', 'the top level of a JSON file has to be an object');
  return readValue(document.contents as YamlNode) as Mapping;
}

/** Any JSON value. */
export function readJsonValue(text: string): Value {
  // Judged alone first: `1, "b": 2` would be read as two.
  parseJson(text);
  return readJson(`{"value":${text}}`).get('value')!;
}

function parseJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    // The text of the error quotes the file, which may hold a secret; only the place is taken from it.
    throw new SopsError('input', `not valid JSON${placeIn(text, String(error))}`);
  }
}

function placeIn(text: string, message: string): string {
  const at = /at position (\d+)/.exec(message)?.[1];
  if (at === undefined) return '';
  const before = text.slice(0, Number(at)).split('\n');
  return ` at line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

function readValue(node: YamlNode | null): Value {
  if (isMap(node)) {
    const mapping = new Mapping();
    for (const { key, value } of node.items) {
      mapping.entries.push({
        kind: 'item',
        key: String((key as { value: unknown }).value),
        value: readValue(value as YamlNode),
      });
    }
    return mapping;
  }
  if (isSeq(node)) {
    const sequence = new Sequence();
    for (const item of node.items) sequence.elements.push({ kind: 'element', value: readValue(item as YamlNode) });
    return sequence;
  }
  if (!isScalar(node)) return null;
  return node.type === 'PLAIN' ? plainLeaf(String(node.source)) : String(node.value);
}

function plainLeaf(text: string): Leaf {
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?\d+$/.test(text)) {
    const whole = BigInt(text);
    if (BigInt.asIntN(64, whole) === whole) return whole;
  }
  if (!Number.isFinite(Number(text))) {
    throw new SopsError('input', 'a number too large for a float cannot be encrypted', { hint: 'write it in quotes' });
  }
  return Number(text);
}

/** With tabs, as sops writes it. */
export function writeJson(mapping: Mapping): string {
  return `${jsonText(mapping, '')}\n`;
}

function jsonText(value: Value, indent: string): string {
  const inner = `${indent}\t`;
  if (value instanceof Mapping) {
    const lines = value.entries
      .filter((entry) => entry.kind === 'item')
      .map((entry) => `${inner}${JSON.stringify(entry.key)}: ${jsonText(entry.value, inner)}`);
    return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
  }
  if (value instanceof Sequence) {
    const lines = value.elements
      .filter((element) => element.kind === 'element')
      .map((element) => inner + jsonText(element.value, inner));
    return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n${indent}]`;
  }
  if (value instanceof Uint8Array) throw new SopsError('input', 'bytes that are no text cannot be written as JSON');
  if (value instanceof Timestamp) return JSON.stringify(value.text);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new SopsError('input', 'a number that is not finite cannot be written as JSON');
  }
  // `1` would come back as a whole number.
  if (typeof value === 'number' && Number.isInteger(value)) {
    const text = Object.is(value, -0) ? '-0' : JSON.stringify(value);
    return text.includes('e') ? text : `${text}.0`;
  }
  return JSON.stringify(value);
}
