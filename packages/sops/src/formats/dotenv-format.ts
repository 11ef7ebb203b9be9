import { isUtf8 } from 'node:buffer';

import { leafBytes } from '../leaf-bytes.ts';
import { SopsError } from '../sops-error.ts';
import { type Documents, type Leaf, Mapping, Sequence, type Value } from '../tree.ts';
import type { Format } from './format.ts';
import { linesOf } from './text.ts';
import { maxValues, tooManyValues } from './too-many-values.ts';

const prefix = 'sops_';

/** `KEY=value` lines. The `sops` block becomes flat keys such as `sops_age__list_0__map_enc`. */
export const dotenvFormat: Format = {
  name: 'dotenv',
  readPlain: (bytes) => [readLines(bytes)],
  writePlain: (documents) => writeLines(documents),
  writeValue(value) {
    if (value instanceof Mapping || value instanceof Sequence) {
      throw new SopsError('input', 'a dotenv file holds only single values');
    }
    return value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(leafText(value));
  },
  readEncrypted(bytes) {
    const document = readLines(bytes);
    const block = new Mapping();
    document.entries = document.entries.filter((entry) => {
      if (entry.kind === 'comment' || !entry.key.startsWith(prefix)) return true;
      place(block, entry.key.slice(prefix.length), entry.value);
      return false;
    });
    return { documents: [document], block: block.entries.length > 0 ? block : undefined };
  },
  writeEncrypted([document = new Mapping()], block) {
    const whole = new Mapping();
    whole.entries = [...document.entries];
    for (const [key, leaf] of flatten(block, prefix)) whole.entries.push({ kind: 'item', key, value: leaf });
    return writeLines([whole]);
  },
};

function readLines(bytes: Uint8Array): Mapping {
  const mapping = new Mapping();
  let number = 0;
  for (const line of linesOf(bytes)) {
    number += 1;
    if (mapping.entries.length >= maxValues) throw tooManyValues('the file');
    if (line.length === 0) continue;
    if (line[0] === 0x23) {
      mapping.entries.push({ kind: 'comment', text: textIn(line.subarray(1), number), inline: false });
      continue;
    }
    const equals = line.indexOf('=');
    if (equals < 0) throw new SopsError('input', `line ${number}: expected KEY=value`);
    const key = textIn(line.subarray(0, equals), number);
    mapping.entries.push({ kind: 'item', key, value: valueOf(line.subarray(equals + 1)) });
  }
  return mapping;
}

function textIn(bytes: Buffer, line: number): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new SopsError('input', `line ${line}: holds bytes that are not UTF-8`, { hint: 'save the file as UTF-8' });
}

/** A value may hold any bytes. */
function valueOf(bytes: Buffer): string | Uint8Array {
  if (isUtf8(bytes)) return bytes.toString().replaceAll('\\n', '\n');
  return Buffer.from(bytes.toString('latin1').replaceAll('\\n', '\n'), 'latin1');
}

function writeLines([document = new Mapping()]: Documents): Buffer {
  const lines = document.entries.map((entry) => {
    if (entry.kind === 'comment') return `#${entry.text}\n`;
    const { key, value } = entry;
    if (value instanceof Mapping || value instanceof Sequence) {
      throw new SopsError('input', `${key}: a dotenv file holds only single values`);
    }
    if (!(value instanceof Uint8Array)) return `${key}=${leafText(value).replaceAll('\n', '\\n')}\n`;
    const escaped = Buffer.from(value).toString('latin1').replaceAll('\n', '\\n');
    return Buffer.concat([Buffer.from(`${key}=`), Buffer.from(`${escaped}\n`, 'latin1')]);
  });
  return Buffer.concat(lines.map((line) => Buffer.from(line)));
}

function leafText(leaf: Exclude<Leaf, Uint8Array>): string {
  if (leaf === null) return '';
  return typeof leaf === 'boolean' ? String(leaf) : leafBytes(leaf).toString('utf8');
}

function* flatten(value: Value, key: string, separator = ''): Generator<readonly [string, Leaf]> {
  if (value instanceof Mapping) {
    for (const entry of value.entries) {
      if (entry.kind === 'item') yield* flatten(entry.value, `${key}${separator}${entry.key}`, '__map_');
    }
  } else if (value instanceof Sequence) {
    let index = 0;
    for (const element of value.elements) {
      if (element.kind === 'element') yield* flatten(element.value, `${key}__list_${index++}`, '__map_');
    }
  } else yield [key, value];
}

/** Puts a flat key back where it came from. */
function place(block: Mapping, key: string, value: Value): void {
  const steps = key.split(/(?=__map_|__list_)/);
  let at: Mapping | Sequence = block;
  steps.forEach((step, index) => {
    const next = steps[index + 1];
    const made = next === undefined ? value : next.startsWith('__list_') ? new Sequence() : new Mapping();
    const found = at instanceof Mapping ? childOf(at, step.replace('__map_', ''), made) : elementOf(at, step, made);
    if (next !== undefined && (found instanceof Mapping || found instanceof Sequence)) at = found;
  });
}

function childOf(mapping: Mapping, key: string, made: Value): Value {
  const found = mapping.get(key);
  if (found !== undefined) return found;
  mapping.set(key, made);
  return made;
}

function elementOf(sequence: Sequence, step: string, made: Value): Value {
  const index = Number(step.replace('__list_', ''));
  if (!Number.isInteger(index) || index < 0 || index > 1000)
    throw new SopsError('metadata', `sops: cannot read ${step}`);
  while (sequence.elements.length <= index) sequence.elements.push({ kind: 'element', value: null });
  const element = sequence.elements[index]!;
  if (element.kind === 'element') element.value ??= made;
  return element.kind === 'element' ? element.value : null;
}
