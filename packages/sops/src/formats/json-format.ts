import { SopsError } from '../sops-error.ts';
import { Mapping, Sequence, Timestamp, type Value } from '../tree.ts';
import type { Format } from './format.ts';
import { readJsonValue } from './json-reader.ts';
import { textOf } from './text.ts';

/** JSON, in the order it is written in. Comments of other formats are dropped, as JSON has none. */
export const jsonFormat: Format = {
  name: 'json',
  readPlain: (bytes) => [readJson(textOf(bytes))],
  writePlain: ([document = new Mapping()], indent) => Buffer.from(writeJson(document, indent)),
  writeValue: (value) => Buffer.from(jsonText(value, '', stepOf(undefined))),
  readEncrypted(bytes) {
    const document = readJson(textOf(bytes));
    const block = document.get('sops');
    document.entries = document.entries.filter((entry) => entry.kind === 'comment' || entry.key !== 'sops');
    return { documents: [document], block: block instanceof Mapping ? block : undefined };
  },
  writeEncrypted([document = new Mapping()], block, indent) {
    const whole = new Mapping();
    whole.entries = [...document.entries, { kind: 'item', key: 'sops', value: block }];
    return Buffer.from(writeJson(whole, indent));
  },
};

export function readJson(text: string): Mapping {
  const value = readJsonValue(text);
  if (value instanceof Mapping) return value;
  throw new SopsError('input', 'the top level of a JSON file has to be an object');
}

export function writeJson(mapping: Mapping, indent?: number): string {
  return `${jsonText(mapping, '', stepOf(indent))}\n`;
}

/** A tab for each level, as sops writes it, where nothing else is said. */
function stepOf(indent: number | undefined): string {
  return indent === undefined ? '\t' : ' '.repeat(indent);
}

function jsonText(value: Value, indent: string, step: string): string {
  const inner = indent + step;
  if (value instanceof Mapping) {
    const lines = value.entries
      .filter((entry) => entry.kind === 'item')
      .map((entry) => `${inner}${quoted(entry.key)}: ${jsonText(entry.value, inner, step)}`);
    return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
  }
  if (value instanceof Sequence) {
    const lines = value.elements
      .filter((element) => element.kind === 'element')
      .map((element) => inner + jsonText(element.value, inner, step));
    return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n${indent}]`;
  }
  if (value instanceof Uint8Array) throw new SopsError('input', 'bytes that are no text cannot be written as JSON');
  if (value instanceof Timestamp) return quoted(value.text);
  if (typeof value === 'string') return quoted(value);
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

/** As Go writes it, for pages that quote JSON. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
