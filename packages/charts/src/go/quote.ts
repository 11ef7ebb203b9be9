import { bytesToText, runes } from './bytes.ts';

/** Go's string literals: `strconv.Quote` and `strconv.Unquote`. */

const simpleEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

/** Go's `unicode.IsPrint`. The table behind the pattern takes long to make, and most characters are not asked about. */
export function isPrintable(char: string): boolean {
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char);
}

export function quote(text: string, mark: '"' | "'" = '"', options: { ascii?: boolean } = {}): string {
  let quoted: string = mark;
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (char === mark) quoted += `\\${char}`;
    else if (simpleEscapes[char] !== undefined) quoted += simpleEscapes[char];
    else if (code >= 0x20 && code < 0x7f) quoted += char;
    else if (code < 0x20 || code === 0x7f) quoted += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (code >= 0xdc80 && code <= 0xdcff) quoted += `\\x${(code - 0xdc00).toString(16)}`;
    else if (!options.ascii && isPrintable(char)) quoted += char;
    else if (code < 0x10000) quoted += `\\u${code.toString(16).padStart(4, '0')}`;
    else quoted += `\\U${code.toString(16).padStart(8, '0')}`;
  }
  return quoted + mark;
}

/** Go's `strconv.CanBackquote`: whether a text can stand between backquotes as it is. */
export function canBackquote(text: string): boolean {
  const isWrong = (char: string) =>
    char === '`' || char === '\x7f' || char === '\ufeff' || (char < ' ' && char !== '\t');
  return text.isWellFormed() && !Array.from(text).some(isWrong);
}

/** Reads a Go string or rune literal with its quotes; `undefined` when it is none. */
export function unquote(literal: string): string | undefined {
  const mark = literal[0];
  if (literal.length < 2 || literal.at(-1) !== mark) return undefined;
  const body = literal.slice(1, -1);
  if (mark === '`') return body.includes('`') ? undefined : body.replaceAll('\r', '');
  if (mark !== '"' && mark !== "'") return undefined;
  if (body.includes('\n')) return undefined;
  if (!body.includes('\\')) {
    if (body.includes(mark)) return undefined;
    return mark === "'" && runes(body).length !== 1 ? undefined : body;
  }
  return mark === '"' && likeJson.test(body) ? (JSON.parse(literal) as string) : unescape(body, mark);
}

/** Its escapes mean the same in JSON, whose reader does not go from character to character. */
const likeJson = /^(?:[ !#-[\]-\uffff]|\\["\\bfnrt])*$/;

function unescape(body: string, mark: '"' | "'"): string | undefined {
  const bytes: number[] = [];
  let text = '';
  let runes = 0;
  const flush = () => {
    if (bytes.length > 0) text += bytesToText(Uint8Array.from(bytes.splice(0)));
  };
  const pattern = /\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([^\\])/suy;
  while (pattern.lastIndex < body.length) {
    const match = pattern.exec(body);
    if (!match) return undefined;
    const [, simple, hex, octal, short, long, plain] = match;
    runes += 1;
    if (plain !== undefined) {
      if (plain === mark) return undefined;
      flush();
      text += plain;
    } else if (simple !== undefined) {
      if ((simple === "'" || simple === '"') && simple !== mark) return undefined;
      flush();
      text += escapedChars[simple]!;
    } else if (hex !== undefined || octal !== undefined) {
      const byte = hex === undefined ? Number.parseInt(octal!, 8) : Number.parseInt(hex, 16);
      if (byte > 255) return undefined;
      // In a rune literal the number is a code point, in a string it is a byte.
      if (mark === "'") text += String.fromCodePoint(byte);
      else bytes.push(byte);
    } else {
      const code = Number.parseInt((short ?? long)!, 16);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
      flush();
      text += String.fromCodePoint(code);
    }
  }
  flush();
  return mark === "'" && runes !== 1 ? undefined : text;
}

const escapedChars: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
};
