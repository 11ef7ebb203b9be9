import { quote, unquote } from '../go/quote.ts';
import type { NumberNode } from './nodes.ts';
import type { TokenType } from './lexer.ts';

/** Reads a number or character literal with Go's rules. Answers a complaint as text when it is none. */
export function parseNumber(pos: number, text: string, type: TokenType): NumberNode | string {
  if (type === 'charConstant') {
    const char = unquote(text);
    if (char === undefined) return isCharacter(text) ? `malformed character constant: ${text}` : 'invalid syntax';
    const code = BigInt(char.codePointAt(0)!);
    return { type: 'number', pos, text, int: code, uint: code, float: Number(code) };
  }
  if (type === 'complex' || text.endsWith('i')) return `complex numbers are not supported: ${quote(text)}`;
  const integer = parseInteger(text);
  if (integer !== undefined) {
    const int = integer >= -(1n << 63n) && integer < 1n << 63n ? integer : undefined;
    const uint = (integer >= 0n && integer < 1n << 64n && !/^[+-]/.test(text)) || integer === 0n ? integer : undefined;
    if (int !== undefined || uint !== undefined) {
      return { type: 'number', pos, text, int, uint, float: Number(integer) };
    }
  }
  const float = parseFloatLiteral(text);
  if (float === undefined) return `illegal number syntax: ${quote(text)}`;
  if (!/[.eEpP]/.test(text)) return `integer overflow: ${quote(text)}`;
  const whole = Number.isInteger(float) && Math.abs(float) < 2 ** 63;
  return {
    type: 'number',
    pos,
    text,
    int: whole ? BigInt(float) : undefined,
    uint: whole && float >= 0 ? BigInt(float) : undefined,
    float,
  };
}

/** Whether a constant that is wrong at least begins with a character. */
function isCharacter(text: string): boolean {
  const [first] = /^'(?:\\(?:x..|[0-7]{3}|u.{4}|U.{8}|.)|.)/su.exec(text) ?? [];
  return first !== undefined && first !== "''" && unquote(`${first}'`) !== undefined;
}

const integerForms: readonly (readonly [RegExp, number])[] = [
  [/^0[xX](_?[0-9a-fA-F])+$/, 16],
  [/^0[bB](_?[01])+$/, 2],
  [/^0[oO](_?[0-7])+$/, 8],
  [/^0(_?[0-7])+$/, 8],
  [/^(0|[1-9](_?[0-9])*)$/, 10],
];

/** An integer literal as `strconv.ParseInt(text, 0, …)` reads it, without a limit of size. */
export function parseInteger(text: string): bigint | undefined {
  const negative = text.startsWith('-');
  const digits = /^[+-]/.test(text) ? text.slice(1) : text;
  // Most numbers are plain ones, and most texts are none.
  if (/^[1-9][0-9]*$/.test(digits)) return BigInt(text.replace(/^\+/, ''));
  if (!/^[0-9]/.test(digits)) return undefined;
  for (const [form, base] of integerForms) {
    if (!form.test(digits)) continue;
    const clean = digits.replaceAll('_', '').replace(/^0[xXbBoO]/, '');
    const prefix = base === 16 ? '0x' : base === 2 ? '0b' : base === 8 ? '0o' : '';
    const value = BigInt(prefix + clean);
    return negative ? -value : value;
  }
  return undefined;
}

/** A float literal as `strconv.ParseFloat` reads it; `undefined` when it is none or too large. */
export function parseFloatLiteral(text: string): number | undefined {
  // Underscores stand between digits, or after the prefix.
  if (text.includes('_')) {
    if (/(?:^|[^0-9a-fA-FxX])_|_(?:$|[^0-9a-fA-F])|[xX].*[pP][^_]*_[^0-9]/.test(text)) return undefined;
    text = text.replaceAll('_', '');
  }
  const hex = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)$/.exec(text);
  if (hex) {
    const [, sign, whole = '', fraction = '', exponent] = hex;
    const digits = whole + fraction;
    if (digits === '') return undefined;
    const value = Number(BigInt(`0x${digits}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
    return sign === '-' ? -value : value;
  }
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
