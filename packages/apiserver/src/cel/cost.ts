import type { ASTNode } from '@marcbachmann/cel-js';
import type { Schema } from '../schema/schema.ts';
import { escapedName } from './escaped-name.ts';

/** The most one rule may cost by estimate, counted over all places it applies to in the largest object. */
export const costLimit = 10_000_000;
/** What all rules of a schema together may cost. */
export const totalCostLimit = 100_000_000;

const requestLimitBytes = 3 * 1024 * 1024;
const perCharacter = 0.1;

/** How many elements fit into the largest request, by the smallest text an element can have. */
export function unboundedItems(schema: Schema): number {
  return Math.floor(requestLimitBytes / (smallestText(schema) + 1));
}

function smallestText(schema: Schema): number {
  switch (schema.type) {
    case 'string':
      return 2 + (schema.minLength ?? 0);
    case 'boolean':
      return 4;
    case 'object':
      return (schema.required ?? []).reduce((total, name) => {
        const property = schema.properties?.[name];
        // Nothing has made sure yet that it is a text.
        return total + String(name).length + 4 + (property ? smallestText(property) : 1);
      }, 2);
    case 'array':
      return 2;
    default:
      return 1;
  }
}

/** Go's words for a cost above the limit. */
export function costText(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

interface Estimate {
  readonly cost: number;
  /** What the value looks like, where that is known. */
  readonly schema?: Schema;
  /** Characters or elements, where that matters. */
  readonly size?: number;
}

type Scope = ReadonlyMap<string, Schema | undefined>;

/**
 * A coarse upper bound of what evaluating an expression costs: one for each step, the number of elements for each loop, a tenth of
 * the characters for each pass over a string. It follows the real estimate closely enough to refuse loops over unbounded lists of
 * unbounded strings; its figures are not the real ones.
 */
export function estimatedCost(ast: ASTNode, variables: Readonly<Record<string, Schema>>): number {
  return estimate(ast, new Map(Object.entries(variables))).cost;
}

function sizeOf(schema: Schema | undefined): number | undefined {
  if (!schema) return undefined;
  if (schema.type === 'array')
    return schema.maxItems ?? (schema.items ? unboundedItems(schema.items) : requestLimitBytes);
  if (schema.type === 'object') {
    return typeof schema.additionalProperties === 'object'
      ? (schema.maxProperties ?? unboundedItems(schema.additionalProperties))
      : undefined;
  }
  if (schema.type !== 'string') return undefined;
  if (schema.enum) return Math.max(0, ...schema.enum.map((value) => String(value).length));
  if (schema.format === 'date-time' || schema.format === 'date' || schema.format === 'duration') return 64;
  return schema.maxLength ?? requestLimitBytes;
}

function elementOf(schema: Schema | undefined): Schema | undefined {
  if (schema?.type === 'array') return schema.items;
  // The real server takes keys for texts without a character.
  if (typeof schema?.additionalProperties === 'object') return { type: 'string', maxLength: 0 };
  return undefined;
}

const loops = new Set(['all', 'exists', 'exists_one', 'existsOne', 'filter', 'map', 'sortBy']);
const scans = new Set([
  'startsWith',
  'endsWith',
  'contains',
  'matches',
  'find',
  'findAll',
  'split',
  'replace',
  'lowerAscii',
  'upperAscii',
  'trim',
  'indexOf',
  'lastIndexOf',
  'format',
  'substring',
  'join',
]);

function estimate(node: ASTNode, scope: Scope): Estimate {
  switch (node.op) {
    case 'value':
      return typeof node.args === 'string' ? { cost: 0, size: node.args.length } : { cost: 0 };
    case 'id': {
      const schema = scope.get(node.args);
      return withSchema(1, schema);
    }
    case '.':
    case '.?': {
      const [target, name] = node.args;
      const inner = estimate(target, scope);
      return withSchema(inner.cost + 1, memberOf(inner.schema, name));
    }
    case '[]':
    case '[?]': {
      const [target, index] = node.args;
      const inner = estimate(target, scope);
      const element = inner.schema?.type === 'array' ? inner.schema.items : additional(inner.schema);
      return withSchema(inner.cost + estimate(index, scope).cost + 1, element);
    }
    case 'call': {
      const [name, parameters] = node.args;
      if (name === 'has') return presenceCost(parameters[0], scope);
      return callCost(name, undefined, parameters, scope);
    }
    case 'rcall': {
      const [name, target, parameters] = node.args;
      return loops.has(name) ? loopCost(name, target, parameters, scope) : callCost(name, target, parameters, scope);
    }
    default:
      return plainCost(node, scope);
  }
}

/** To ask whether a field is there costs nothing itself, only the way to what it would be in. */
function presenceCost(field: ASTNode | undefined, scope: Scope): Estimate {
  if (field?.op !== '.') return { cost: 1 };
  return { cost: estimate(field.args[0], scope).cost };
}

function withSchema(cost: number, schema: Schema | undefined): Estimate {
  const size = sizeOf(schema);
  return { cost, ...(schema ? { schema } : {}), ...(size === undefined ? {} : { size }) };
}

function additional(schema: Schema | undefined): Schema | undefined {
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function memberOf(schema: Schema | undefined, name: string): Schema | undefined {
  for (const [property, found] of Object.entries(schema?.properties ?? {})) {
    if (escapedName(property) === name) return found;
  }
  return additional(schema);
}

function loopCost(name: string, target: ASTNode, parameters: readonly ASTNode[], scope: Scope): Estimate {
  const list = estimate(target, scope);
  const inner = new Map(scope);
  const variable = parameters[0];
  if (variable?.op === 'id') inner.set(variable.args, elementOf(list.schema));
  const body = parameters.slice(1).reduce((total, part) => total + estimate(part, inner).cost, 0);
  const count = list.size ?? 1;
  const keeps = name === 'filter' && list.schema ? { schema: list.schema } : {};
  return { cost: list.cost + count * (body + 1), size: count, ...keeps };
}

function callCost(name: string, target: ASTNode | undefined, parameters: readonly ASTNode[], scope: Scope): Estimate {
  const receiver = target ? estimate(target, scope) : undefined;
  const given = parameters.map((parameter) => estimate(parameter, scope));
  const inner = (receiver?.cost ?? 0) + given.reduce((total, part) => total + part.cost, 0);
  if (!scans.has(name)) return { cost: inner + 1, ...(receiver?.size === undefined ? {} : { size: receiver.size }) };
  const size = receiver?.size ?? 0;
  // Of an empty text something is looked at, too.
  if (name === 'matches')
    return { cost: inner + Math.ceil((size + 1) * perCharacter) * Math.ceil((given[0]?.size ?? 0) * 0.25) };
  const passes = name === 'startsWith' || name === 'endsWith' ? (given[0]?.size ?? 0) : size;
  const factor = name === 'contains' || name === 'find' ? Math.max(1, (given[0]?.size ?? 0) * 0.25) : 1;
  return { cost: inner + 1 + passes * perCharacter * factor, size };
}

function largest(sizes: readonly number[]): { readonly size?: number } {
  return sizes.length > 0 ? { size: Math.max(...sizes) } : {};
}

function plainCost(node: ASTNode, scope: Scope): Estimate {
  const parts: Estimate[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null && 'op' in value)
      parts.push(estimate(value as ASTNode, scope));
  };
  visit(node.args);
  const inner = parts.reduce((total, part) => total + part.cost, 0);
  const cost = inner + 1;
  const sizes = parts.flatMap((part) => (part.size === undefined ? [] : [part.size]));
  switch (node.op) {
    case '&&':
    case '||':
      return { cost: inner };
    case '?:': {
      const [condition, ...branches] = parts;
      return { cost: condition!.cost + Math.max(...branches.map((branch) => branch.cost)), ...largest(sizes) };
    }
    case '==':
    case '!=':
      // Of two values without a size one is looked at.
      return { cost: inner + Math.ceil((sizes.length === 2 ? Math.min(...sizes) : 1) * perCharacter) };
    case '<':
    case '<=':
    case '>':
    case '>=':
      return { cost: cost + (sizes.length === 2 ? Math.min(...sizes) * perCharacter : 0) };
    case '+': {
      const size = sizes.reduce((total, part) => total + part, 0);
      return { cost: cost + size * perCharacter, size };
    }
    case 'in':
      return { cost: cost + (parts[1]?.size ?? 0) };
    default:
      return { cost, ...largest(sizes) };
  }
}
