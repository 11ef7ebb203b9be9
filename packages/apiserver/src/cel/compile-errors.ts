import { ParseError, TypeError as CelTypeError } from '@marcbachmann/cel-js';

interface Problem {
  readonly message: string;
  /** Where in the text, counted from zero. */
  readonly offset: number;
}

/** What cel-go would print for the same mistake: the message, the line and a caret under the place. */
export function compileErrorText(text: string, error: unknown): string {
  const { message, offset } = problemOf(text, error);
  return placedText(text, message, offset);
}

/** A message with the line it is about; `offset` counts from zero. */
export function placedText(text: string, message: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - (before.lastIndexOf('\n') + 1);
  const source = text.split('\n')[line - 1] ?? '';
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${source}\n | ${'.'.repeat(column)}^`;
}

function problemOf(text: string, error: unknown): Problem {
  if (!(error instanceof CelTypeError) && !(error instanceof ParseError)) {
    return { message: error instanceof Error ? error.message : String(error), offset: 0 };
  }
  const summary = (error as { summary?: string }).summary ?? error.message;
  const start = (error as { range?: { start: number } }).range?.start ?? 0;
  const field = /^No such key: (.*)$/.exec(summary);
  if (field) return { message: `undefined field '${field[1]}'`, offset: Math.max(0, start - 1) };
  const variable = /^Unknown variable: (.*)$/.exec(summary);
  if (variable) return { message: `undeclared reference to '${variable[1]}' (in container '')`, offset: start };
  const operator = /^no such overload: (.+) ([-+*/%<>=!]+|in) (.+)$/.exec(summary);
  if (operator) {
    const [, left, sign, right] = operator;
    const name = sign === 'in' ? '@in' : `_${sign}_`;
    return {
      message: `found no matching overload for '${name}' applied to '(${goType(left!)}, ${goType(right!)})'`,
      offset: operatorOffset(text, start, sign!),
    };
  }
  const call = /^found no matching overload for '(?:([^']*?)\.)?(\w+)\((.*)\)'$/.exec(summary);
  if (call) {
    const [, receiver, name, parameters] = call;
    const at = text.indexOf(`${name}(`, start);
    const offset = at < 0 ? start : at + name!.length;
    if (receiver === undefined && !knownFunction(name!)) {
      return { message: `undeclared reference to '${name}' (in container '')`, offset };
    }
    const target = receiver === undefined ? `(${parameters})` : `${goType(receiver)}.(${parameters})`;
    return { message: `found no matching overload for '${name}' applied to '${target}'`, offset };
  }
  return { message: error instanceof ParseError ? `Syntax error: ${summary}` : summary, offset: start };
}

const conversions = new Set([
  'size',
  'string',
  'int',
  'uint',
  'double',
  'bool',
  'bytes',
  'timestamp',
  'duration',
  'type',
  'dyn',
]);

function knownFunction(name: string): boolean {
  return conversions.has(name);
}

function goType(name: string): string {
  if (name === 'null') return 'null';
  return name.replaceAll(/\blist<(.*)>/g, 'list($1)').replaceAll(/\bmap<(.*)>/g, 'map($1)');
}

/** Operators have no place of their own in the error; it is the first one outside of brackets and strings. */
function operatorOffset(text: string, start: number, sign: string): number {
  let depth = 0;
  let quote = '';
  for (let index = start; index < text.length; index++) {
    const char = text[index]!;
    if (quote) {
      if (char === '\\') index++;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) depth--;
    else if (depth === 0 && text.startsWith(sign, index)) return index;
  }
  return start;
}
