import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { canBackquote, quote } from '../go/quote.ts';
import { nilIfEmpty, nilSlice, strings, type Value } from '../go/values.ts';
import type { FunctionTable, Run, TemplateFunction } from '../template/run.ts';
import { fn, inRun } from '../template/signature.ts';
import { AsciiExpression } from './ascii-expression.ts';

const require = createRequire(import.meta.url);

/** Loaded by the first expression: its tables of characters are larger than all of this package. */
const re2 = () => require('re2js') as typeof Re2;

/** An expression that was compiled. Time is linear in the text, whatever the expression. */
interface Regex {
  /** How many instructions it has. */
  readonly size: number;
  /** Each match in turn, the empty ones included. */
  matches(text: string): Iterable<Match>;
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly group: (index: number) => string | null;
  readonly named: (name: string) => string | null;
}

/** The usual expressions, for texts of ASCII that are no longer than names are; nothing for others. */
function compileUsual(expression: string): Regex | undefined {
  const usual = AsciiExpression.compile(expression);
  return (
    usual && {
      size: usual.size,
      *matches(text) {
        for (let from = 0; ;) {
          const places = usual.search(text, from);
          if (!places) return;
          const [start, end] = places as [number, number];
          const group = (index: number) => {
            const begin = places[2 * index] ?? -1;
            return begin < 0 ? null : text.slice(begin, places[2 * index + 1]);
          };
          yield { start, end, group, named: () => null };
          from = start === end ? end + 1 : end;
        }
      },
    }
  );
}

function compileAny(expression: string): Regex {
  if (!expression.isWellFormed()) {
    const rest = expression.slice(expression.search(/[\ud800-\udfff]/u));
    throw new Error(`error parsing regexp: invalid UTF-8: \`${rest}\``);
  }
  let regex: Re2.RE2JS;
  try {
    regex = re2().RE2JS.compile(expression);
  } catch (error) {
    throw new Error((error as Error).message.replace(/(trailing backslash at end of expression)$/, '$1: ``'), {
      cause: error,
    });
  }
  const names = regex.namedGroups() as Readonly<Record<string, number>>;
  return {
    size: regex.programSize(),
    *matches(text) {
      const matcher = regex.matcher(text);
      while (matcher.find()) {
        const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index));
        const group = (index: number) => groups[index] ?? null;
        const named = (name: string) => (Object.hasOwn(names, name) ? group(names[name]!) : null);
        yield { start: matcher.start(), end: matcher.end(), group, named };
      }
    },
  };
}

/** Expressions in use. */
const compiled = new Map<string, { readonly usual: Regex | undefined; any?: Regex }>();
const mostCompiled = 500;
const longestName = 200;

function compile(expression: string, text: string): Regex {
  let known = compiled.get(expression);
  if (!known) {
    known = { usual: compileUsual(expression) };
    if (compiled.size >= mostCompiled) compiled.clear();
    compiled.set(expression, known);
  }
  if (known.usual && text.length <= longestName && isAscii(text)) return known.usual;
  return (known.any ??= compileAny(expression));
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/**
 * Linear in the text is not little: an expression of a thousand instructions may try each at every character. Counts that, and
 * answers the expression.
 */
function prepare(run: Run, expression: string, text: string): Regex {
  const regex = compile(expression, text);
  run.step(Math.floor((text.length * (10 + regex.size)) / triesPerStep));
  return regex;
}

const triesPerStep = 100;

/** Every match as Go finds them: an empty one right after the last is none. */
function* matches(run: Run, regex: Regex, text: string): Generator<Match> {
  let lastEnd = -1;
  for (const match of regex.matches(text)) {
    run.step();
    const { start, end } = match;
    if (start === end && end === lastEnd) continue;
    lastEnd = end;
    yield match;
  }
}

function findAll(run: Run, expression: string, text: string, limit: bigint): Value {
  const regex = prepare(run, expression, text);
  if (limit === 0n) return nilSlice('[]string');
  const found: string[] = [];
  for (const match of matches(run, regex, text)) {
    found.push(text.slice(match.start, match.end));
    if (limit > 0n && BigInt(found.length) >= limit) break;
  }
  return nilIfEmpty(strings(found));
}

function find(run: Run, expression: string, text: string): string {
  for (const { start, end } of prepare(run, expression, text).matches(text)) return text.slice(start, end);
  return '';
}

/** Names are of letters of the whole world; the pattern for those takes long to make, and is seldom needed. */
function references(template: string): RegExp {
  return isAscii(template) ? /\$(?:\$|\{(\w+)\}|(\w+))/g : /\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu;
}

/** Go's templates for replacements: `$1`, `${name}`, `$$`. `$1W` is the group called `1W`. */
function expand(template: string, match: Match): string {
  return template.replace(references(template), (whole: string, braced?: string, plain?: string) => {
    if (whole === '$$') return '$';
    const name = braced ?? plain!;
    return (/^\d+$/.test(name) ? match.group(Number(name)) : match.named(name)) ?? '';
  });
}

function replaceAll(run: Run, expression: string, text: string, replacement: (match: Match) => string): string {
  let result = '';
  let from = 0;
  for (const match of matches(run, prepare(run, expression, text), text)) {
    result += text.slice(from, match.start) + replacement(match);
    from = match.end;
  }
  return result + text.slice(from);
}

function split(run: Run, expression: string, text: string, limit: bigint): Value {
  const regex = prepare(run, expression, text);
  if (limit === 0n) return nilSlice('[]string');
  if (expression.length > 0 && text.length === 0) return strings(['']);
  const parts: string[] = [];
  let begin = 0;
  let end = 0;
  for (const match of matches(run, regex, text)) {
    if (limit > 0n && BigInt(parts.length) === limit - 1n) break;
    end = match.start;
    if (match.end !== 0) parts.push(text.slice(begin, end));
    begin = match.end;
  }
  if (end !== text.length) parts.push(text.slice(begin));
  return strings(parts);
}

function isMatch(run: Run, expression: string, text: string): boolean {
  for (const _ of prepare(run, expression, text).matches(text)) return true;
  return false;
}

/** `regexMatch` alone says no to an expression it cannot read. */
function isMatchOrNonsense(run: Run, expression: string, text: string): boolean {
  try {
    compile(expression, text);
  } catch {
    return false;
  }
  return isMatch(run, expression, text);
}

const findAllFunction = inRun(['string', 'string', 'int'], findAll);
const findFunction = inRun(['string', 'string'], find);
const splitFunction = inRun(['string', 'string', 'int'], split);
const replaceFunction = inRun(['string', 'string', 'string'], (run, expression, text, template) =>
  replaceAll(run, expression, text, (match) => expand(template, match)),
);
const replaceLiteral = inRun(['string', 'string', 'string'], (run, expression, text, literal) =>
  replaceAll(run, expression, text, () => literal),
);

/** The functions without `must` panic, and Go says first which expression it was. */
function panicking(called: TemplateFunction): TemplateFunction {
  return {
    ...called,
    call(args, run) {
      try {
        return called.call(args, run);
      } catch (error) {
        const { message } = error as Error;
        if (!message.startsWith('error parsing regexp: ')) throw error;
        const expression = args[0] as string;
        const shown = canBackquote(expression) ? `\`${expression}\`` : quote(expression);
        throw new Error(`regexp: Compile(${shown}): ${message}`, { cause: error });
      }
    },
  };
}

export const regexFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['regexMatch', inRun(['string', 'string'], isMatchOrNonsense)],
  ['mustRegexMatch', inRun(['string', 'string'], isMatch)],
  ['regexFindAll', panicking(findAllFunction)],
  ['mustRegexFindAll', findAllFunction],
  ['regexFind', panicking(findFunction)],
  ['mustRegexFind', findFunction],
  ['regexReplaceAll', panicking(replaceFunction)],
  ['mustRegexReplaceAll', replaceFunction],
  ['regexReplaceAllLiteral', panicking(replaceLiteral)],
  ['mustRegexReplaceAllLiteral', replaceLiteral],
  ['regexSplit', panicking(splitFunction)],
  ['mustRegexSplit', splitFunction],
  ['regexQuoteMeta', fn(['string'], (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&'))],
]);
