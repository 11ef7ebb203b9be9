import type { Json } from '../object.ts';
import { asObject } from '../kinds/json-access.ts';

/**
 * The part of kubectl's JSONPath that printer columns use: `.a.b`, `.a['b.c']`, `.a\.b`, `[0]`, `[-1]`, `[*]`, `.*` and filters such
 * as `[?(@.type=="Ready")]`.
 */
export interface JsonPath {
  /** All values found, in order. */
  find(root: unknown): Json[];
}

type Step = (values: Json[]) => Json[];

/** Compiles a path; throws an `Error` that says what is wrong with it. */
export function compileJsonPath(path: string): JsonPath {
  const steps = parseSteps(path);
  return { find: (root) => steps.reduce((values, step) => step(values), [root as Json]) };
}

function parseSteps(path: string): Step[] {
  const steps: Step[] = [];
  let position = 0;
  while (position < path.length) {
    const rest = path.slice(position);
    const name = /^\.((?:\\.|[^.[\]\\])+)/.exec(rest);
    if (name) {
      const key = name[1]!.replace(/\\(.)/g, '$1');
      steps.push(key === '*' ? everything : child(key));
      position += name[0].length;
      continue;
    }
    const quoted = /^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]/.exec(rest);
    if (quoted) {
      steps.push(child((quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/g, '$1')));
      position += quoted[0].length;
      continue;
    }
    const index = /^\[(-?\d+)\]/.exec(rest);
    if (index) {
      steps.push(element(Number(index[1])));
      position += index[0].length;
      continue;
    }
    if (rest.startsWith('[*]')) {
      steps.push(everything);
      position += 3;
      continue;
    }
    const filter = /^\[\?\(\s*@((?:\.[^=!<>\s]+)?)\s*(?:(==|!=|<=|>=|<|>)\s*([^)]*?))?\s*\)\]/.exec(rest);
    if (filter) {
      steps.push(filtered(filter[1]!, filter[2], filter[3]));
      position += filter[0].length;
      continue;
    }
    throw new Error(`unrecognized character in action: ${JSON.stringify(rest)}`);
  }
  return steps;
}

function child(key: string): Step {
  return (values) => values.flatMap((value) => keep(asObject(value)?.[key]));
}

function keep(value: Json | undefined): Json[] {
  return value === undefined ? [] : [value];
}

function element(index: number): Step {
  return (values) => values.flatMap((value) => (Array.isArray(value) ? keep(value.at(index)) : []));
}

const everything: Step = (values) =>
  values.flatMap((value) => (Array.isArray(value) ? value : Object.values(asObject(value) ?? {})));

function filtered(path: string, operator: string | undefined, literal: string | undefined): Step {
  const inner = compileJsonPath(path);
  const wanted = literal === undefined ? undefined : parseLiteral(literal);
  return (values) =>
    values.flatMap((value) =>
      (Array.isArray(value) ? value : []).filter((item) => {
        const found = inner.find(item)[0];
        if (operator === undefined) return found !== undefined;
        return found !== undefined && compare(found, operator, wanted);
      }),
    );
}

function parseLiteral(literal: string): Json {
  const quoted = /^(?:'(.*)'|"(.*)")$/s.exec(literal);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  if (literal === 'true') return true;
  if (literal === 'false') return false;
  const number = Number(literal);
  if (literal === '' || Number.isNaN(number)) throw new Error(`cannot compare with ${JSON.stringify(literal)}`);
  return number;
}

function compare(found: Json, operator: string, wanted: Json | undefined): boolean {
  if (operator === '==') return found === wanted;
  if (operator === '!=') return found !== wanted;
  if (typeof found !== typeof wanted || (typeof found !== 'number' && typeof found !== 'string')) return false;
  const other = wanted as typeof found;
  switch (operator) {
    case '<':
      return found < other;
    case '<=':
      return found <= other;
    case '>':
      return found > other;
    default:
      return found >= other;
  }
}
