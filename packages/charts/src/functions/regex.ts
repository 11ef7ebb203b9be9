import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { strings, type Value } from '../go/values.ts';
import type { FunctionTable, Run, TemplateFunction } from '../template/run.ts';
import { fn, inRun } from '../template/signature.ts';

const require = createRequire(import.meta.url);

/** Loaded by the first expression: its tables of characters are larger than all of this package. */
const re2 = () => require('re2js') as typeof Re2;

/** Expressions in use, compiled. RE2 takes time linear in the text, whatever the expression. */
const compiled = new Map<string, Re2.RE2JS>();
const mostCompiled = 500;

function compile(expression: string): Re2.RE2JS {
  let regex = compiled.get(expression);
  if (regex) return regex;
  try {
    regex = re2().RE2JS.compile(expression);
  } catch (error) {
    throw new Error((error as Error).message, { cause: error });
  }
  if (compiled.size >= mostCompiled) compiled.clear();
  compiled.set(expression, regex);
  return regex;
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | null)[];
  readonly named: Readonly<Record<string, string | null>>;
}

/**
 * Linear in the text is not little: an expression of a thousand instructions may try each at every character. Counts that, and
 * answers the expression.
 */
function prepare(run: Run, expression: string, text: string): Re2.RE2JS {
  const regex = compile(expression);
  run.step(Math.floor((text.length * (10 + regex.programSize())) / triesPerStep));
  return regex;
}

const triesPerStep = 100;

/** Every match as Go finds them: an empty one right after the last is none. */
function* matches(run: Run, regex: Re2.RE2JS, text: string): Generator<Match> {
  const matcher = regex.matcher(text);
  const names = regex.namedGroups();
  let lastEnd = -1;
  while (matcher.find()) {
    run.step();
    const start = matcher.start();
    const end = matcher.end();
    if (start === end && end === lastEnd) continue;
    lastEnd = end;
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index));
    const named = Object.fromEntries(
      Object.entries(names).map(([name, index]) => [name, groups[index as number] ?? null]),
    );
    yield { start, end, groups, named };
  }
}

function findAll(run: Run, expression: string, text: string, limit: bigint): Value {
  if (limit === 0n) return strings([]);
  const found: string[] = [];
  for (const match of matches(run, prepare(run, expression, text), text)) {
    found.push(text.slice(match.start, match.end));
    if (limit > 0n && BigInt(found.length) >= limit) break;
  }
  return strings(found);
}

function find(run: Run, expression: string, text: string): string {
  const matcher = prepare(run, expression, text).matcher(text);
  return matcher.find() ? matcher.group()! : '';
}

/** Go's templates for replacements: `$1`, `${name}`, `$$`. `$1W` is the group called `1W`. */
function expand(template: string, match: Match): string {
  return template.replace(/\$(?:\$|\{([^{}]*)\}|(\w+))/g, (whole: string, braced?: string, plain?: string) => {
    if (whole === '$$') return '$';
    const name = braced ?? plain!;
    if (braced !== undefined && !/^\w+$/.test(braced)) return whole;
    return (/^\d+$/.test(name) ? match.groups[Number(name)] : match.named[name]) ?? '';
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
  if (limit === 0n) return strings([]);
  const regex = prepare(run, expression, text);
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
  return prepare(run, expression, text).matcher(text).find();
}

/** `regexMatch` alone says no to an expression it cannot read. */
function isMatchOrNonsense(run: Run, expression: string, text: string): boolean {
  try {
    compile(expression);
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

export const regexFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['regexMatch', inRun(['string', 'string'], isMatchOrNonsense)],
  ['mustRegexMatch', inRun(['string', 'string'], isMatch)],
  ['regexFindAll', findAllFunction],
  ['mustRegexFindAll', findAllFunction],
  ['regexFind', findFunction],
  ['mustRegexFind', findFunction],
  ['regexReplaceAll', replaceFunction],
  ['mustRegexReplaceAll', replaceFunction],
  ['regexReplaceAllLiteral', replaceLiteral],
  ['mustRegexReplaceAllLiteral', replaceLiteral],
  ['regexSplit', splitFunction],
  ['mustRegexSplit', splitFunction],
  ['regexQuoteMeta', fn(['string'], (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&'))],
]);
