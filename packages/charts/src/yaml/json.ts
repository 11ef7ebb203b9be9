import { formatFloat } from '../go/float.ts';
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

/** Reads JSON into Go values. The messages are Go's for the commonest mistakes. */
export function readJson(text: string): Value {
  try {
    return fromPlain(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (text.trim() === '') throw new Error('unexpected end of JSON input', { cause: error });
    if (/end of JSON|Unterminated|Expected .* at position \d+$/.test(error.message) && isCut(text))
      throw new Error('unexpected end of JSON input', { cause: error });
    throw new Error(wrongLiteral(text) ?? `invalid character ${firstBad(text, error)} looking for beginning of value`, {
      cause: error,
    });
  }
}

/** A text that begins like `null`, `true` or `false` and goes on otherwise. */
function wrongLiteral(text: string): string | undefined {
  const word = text.trimStart();
  const literal = ['null', 'true', 'false'].find((each) => each[0] === word[0]);
  if (!literal) return undefined;
  const at = Array.from(literal).findIndex((char, index) => word[index] !== char);
  if (at < 0 || word[at] === undefined) return undefined;
  return `invalid character '${word[at]}' in literal ${literal} (expecting '${literal[at]}')`;
}

function isCut(text: string): boolean {
  return /[[{,:"]\s*$/.test(text);
}

function firstBad(text: string, error: SyntaxError): string {
  const position = /position (\d+)/.exec(error.message);
  const char = position ? text[Number(position[1])] : text.trim()[0];
  return char === undefined ? "''" : `'${char}'`;
}
