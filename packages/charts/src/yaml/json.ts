import { formatFloat } from '../go/float.ts';
import { jsonComplaint } from './json-complaint.ts';
import { fromPlain, GoObject, isNilContainer, SizedInt, sortedKeys, type GoMap, type Value } from '../go/values.ts';

/** Go's `encoding/json`. */

const maxDepth = 1000;

export interface WriteJsonOptions {
  /** Whether `<`, `>` and `&` are escaped. Default true, as in Go. */
  escapeHtml?: boolean;
  /** Text of one level; without it everything is on one line. */
  indent?: string;
}

export function writeJson(value: Value, options: WriteJsonOptions = {}): string {
  const { escapeHtml = true, indent } = options;
  const write = (item: Value, depth: number, isStruct = false): string => {
    if (depth > maxDepth) throw new Error('json: unsupported value: encountered a cycle');
    if (item === null || item === undefined) return 'null';
    switch (typeof item) {
      case 'boolean':
      case 'bigint':
        return String(item);
      case 'string':
        return jsonString(item, escapeHtml);
      case 'number':
        return jsonNumber(item);
    }
    if (item instanceof SizedInt) return String(item.value);
    if (item instanceof Uint8Array) return jsonString(Buffer.from(item).toString('base64'), escapeHtml);
    if (item instanceof GoObject) return write(item.plain(), depth, item.goKind === 'struct' || item.goKind === 'ptr');
    if (isNilContainer(item)) return 'null';
    const [open, close, parts] = Array.isArray(item)
      ? ['[', ']', item.map((element) => write(element, depth + 1))]
      : ['{', '}', members(item, depth, isStruct)];
    if (parts.length === 0) return open + close;
    if (indent === undefined) return open + parts.join(',') + close;
    const inner = `\n${indent.repeat(depth + 1)}`;
    return `${open}${inner}${parts.join(`,${inner}`)}\n${indent.repeat(depth)}${close}`;
  };
  /** Fields of a struct stay as they are declared. */
  const members = (map: GoMap, depth: number, isStruct: boolean): string[] =>
    (isStruct ? [...map.keys()] : sortedKeys(map)).map(
      (key) => `${jsonString(key, escapeHtml)}:${indent === undefined ? '' : ' '}${write(map.get(key), depth + 1)}`,
    );
  return write(value, 0);
}

function jsonNumber(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`json: unsupported value: ${formatFloat(value, 'g')}`);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-6 || size >= 1e21)) return formatFloat(value, 'e').replace(/e-0(\d)$/, 'e-$1');
  return formatFloat(value, 'f');
}

const controlEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function jsonString(text: string, escapeHtml: boolean): string {
  const pattern = escapeHtml ? /["\\\p{Cc}\p{Cs}<>&\u2028\u2029]/gu : /["\\\p{Cc}\p{Cs}\u2028\u2029]/gu;
  const escaped = text.replace(
    pattern,
    (char) => controlEscapes[char] ?? (isHighControl(char) ? char : unicodeEscape(char)),
  );
  return `"${escaped}"`;
}

/** Go leaves the control characters above ASCII as they are. */
function isHighControl(char: string): boolean {
  return char >= '\x7f' && char < '\xa0';
}

function unicodeEscape(char: string): string {
  // A byte that is no character.
  if (char >= '\ud800' && char <= '\udfff') return '\\ufffd';
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Reads JSON into Go values, and complains as Go does. */
export function readJson(text: string): Value {
  const written = hasHalves(text) ? withoutHalves(text) : text;
  try {
    return fromPlain(longNumber.test(written) ? JSON.parse(written, refuseInfinite) : JSON.parse(written));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Error(jsonComplaint(text), { cause: error });
  }
}

/** Numbers that may be more than a float holds. */
const longNumber = /[eE]\+?\d{3}|\d{300}/;

function refuseInfinite(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (value === Infinity || value === -Infinity)
    throw new Error(`json: cannot unmarshal number ${source ?? value} into Go value of type float64`);
  return value;
}

/** Halves of characters, and bytes that are none. */
function hasHalves(text: string): boolean {
  return /\\u[dD]/.test(text) || !text.isWellFormed();
}

/** Go reads each as U+FFFD. */
function withoutHalves(text: string): string {
  const escapes = /\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)/gsu;
  return text.toWellFormed().replaceAll(escapes, (escape, half?: string) => (half ? String.raw`\ufffd` : escape));
}
