import { Environment, Optional } from '@marcbachmann/cel-js';
import type { ASTNode, ParseResult } from '@marcbachmann/cel-js';
import type { Json } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { compileErrorText, placedText } from './compile-errors.ts';
import { widenHas } from './has-anywhere.ts';
import { undefinedField } from './has-arguments.ts';
import { meterComprehension, withinBudget } from './budget.ts';
import { registerLibraries } from './libraries.ts';
import { linearMatches } from './string-library.ts';
import { dynamic, TypeRegistry, type CelType, type SharedValues } from './value-types.ts';

/** What a variable is: anything, a value described by a schema, or such a value that may be missing. */
export type VariableType = 'dyn' | Schema | { readonly optional: Schema };

export interface RuleOptions {
  readonly variables: Readonly<Record<string, VariableType>>;
  /** What the expression has to evaluate to; default `bool`. */
  readonly result?: 'bool' | 'string' | 'dyn';
}

/** A compiled expression. With an `error` it cannot be evaluated. */
export interface CompiledRule {
  /** Go's text for what is wrong, such as `compilation failed: ERROR: <input>:1:5: undefined field 'b' …`. */
  readonly error?: string;
  /** The variables the expression mentions. */
  readonly uses: ReadonlySet<string>;
  /** The parsed expression; absent when it could not be parsed. */
  readonly ast?: ASTNode;
  /** Evaluates with JSON values; throws an `Error` with the language's message when that fails. */
  evaluate(values: Readonly<Record<string, unknown>>): unknown;
}

/** Compiles rules that share types: everything below one schema, or all expressions of one admission policy. */
export class RuleCompiler {
  readonly #environment: Environment;
  readonly #types: TypeRegistry;

  /** `schemas` are registered up front; `extend` may add functions, such as an authorizer. */
  constructor(schemas: readonly Schema[] = [], extend?: (environment: Environment) => void) {
    this.#environment = baseEnvironment().clone();
    extend?.(this.#environment);
    this.#types = new TypeRegistry(this.#environment);
    for (const schema of schemas) this.#types.typeOf(schema);
  }

  compile(text: string, options: RuleOptions): CompiledRule {
    const types = new Map<string, Variable>();
    const pending = Object.entries(options.variables).map(([name, variable]) => {
      const optional = typeof variable === 'object' && 'optional' in variable;
      const schema =
        variable === 'dyn' ? undefined : optional ? (variable as { optional: Schema }).optional : (variable as Schema);
      const type = schema ? this.#types.typeOf(schema) : dynamic;
      types.set(name, { type, optional, schema: optional ? undefined : schema });
      return [name, optional ? `optional<${type.name}>` : type.name] as const;
    });
    const environment = this.#environment.clone();
    for (const [name, type] of pending) environment.registerVariable(name, type);
    return compileIn(environment, text, types, options.result ?? 'bool');
  }
}

/** Compiles one expression on its own. */
export function compileRule(text: string, options: RuleOptions): CompiledRule {
  const schemas = Object.values(options.variables).flatMap((variable) =>
    variable === 'dyn'
      ? []
      : ['optional' in variable ? (variable as { optional: Schema }).optional : (variable as Schema)],
  );
  return new RuleCompiler(schemas).compile(text, options);
}

interface Variable {
  readonly type: CelType;
  readonly optional: boolean;
  readonly schema: Schema | undefined;
}

let base: Environment | undefined;

function baseEnvironment(): Environment {
  if (!base) {
    base = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
    registerLibraries(base);
  }
  return base;
}

function compileIn(
  environment: Environment,
  text: string,
  types: ReadonlyMap<string, Variable>,
  result: 'bool' | 'string' | 'dyn',
): CompiledRule {
  const failed = (error: string, ast?: ASTNode): CompiledRule => ({
    error,
    uses: new Set(),
    ...(ast ? { ast } : {}),
    evaluate: () => {
      throw new Error(error);
    },
  });
  let parsed: ParseResult;
  try {
    parsed = parse(environment, text);
  } catch (error) {
    return failed(`compilation failed: ${compileErrorText(text, error)}`);
  }
  const checked = parsed.check();
  if (!checked.valid) return failed(`compilation failed: ${compileErrorText(text, checked.error)}`, parsed.ast);
  const missing = undefinedField(parsed.ast, new Map([...types].map(([name, { schema }]) => [name, schema])));
  if (missing) {
    const problem = placedText(text, `undefined field '${missing.name}'`, missing.offset);
    return failed(`compilation failed: ${problem}`, parsed.ast);
  }
  if (result !== 'dyn' && checked.type !== result && checked.type !== 'dyn') {
    return failed(result === 'bool' ? 'must evaluate to a bool' : 'must evaluate to a string', parsed.ast);
  }
  const uses = identifiers(parsed.ast);
  const compares = comparesValues(parsed.ast);
  const evaluated = bounded(environment, text, parsed);
  return {
    uses,
    ast: parsed.ast,
    evaluate(values) {
      const shared: SharedValues | undefined = compares ? new Map() : undefined;
      const context: Record<string, unknown> = {};
      for (const [name, { type, optional }] of types) {
        if (!uses.has(name)) continue;
        const value = values[name];
        if (optional)
          context[name] = value === undefined ? Optional.none() : Optional.of(type.convert(value as Json, shared));
        else context[name] = type.convert((value ?? null) as Json, shared);
      }
      return withinBudget(() => evaluated(context) as unknown);
    },
  };
}

function parse(environment: Environment, text: string): ParseResult {
  const parsed = environment.parse(text);
  visitNodes(parsed.ast, (node) => widenHas(environment, node));
  return parsed;
}

/**
 * The expression as it is evaluated: loops count their steps, and `matches` takes linear time. It is parsed once more, because what
 * is said about an expression is said about it as it was written.
 */
function bounded(environment: Environment, text: string, written: ParseResult): ParseResult {
  const parsed = parse(environment, text);
  let changed = false;
  visitNodes(parsed.ast, (node) => {
    if (node.op === 'rcall' && node.args[0] === 'matches') {
      (node.args as unknown as [string])[0] = linearMatches;
      changed = true;
    }
    if (meterComprehension(node)) changed = true;
  });
  return changed && parsed.check().valid ? parsed : written;
}

const comparingFunctions = new Set(['distinct', 'indexOf', 'lastIndexOf', 'contains', 'equivalent', 'intersects']);

/** Whether two values are ever compared for equality, by operator or inside a function. */
function comparesValues(ast: ASTNode): boolean {
  let found = false;
  visitNodes(ast, (node) => {
    if (node.op === '==' || node.op === '!=' || node.op === 'in') found = true;
    else if (node.op === 'rcall' && comparingFunctions.has(node.args[0])) found = true;
  });
  return found;
}

/** The names an expression mentions, anywhere in it. */
function identifiers(ast: ASTNode): Set<string> {
  const found = new Set<string>();
  visitNodes(ast, (node) => {
    if (node.op === 'id') found.add(node.args);
  });
  return found;
}

function visitNodes(value: unknown, visit: (node: ASTNode) => void): void {
  if (Array.isArray(value)) for (const part of value) visitNodes(part, visit);
  else if (typeof value === 'object' && value !== null && 'op' in value && 'args' in value) {
    visit(value as ASTNode);
    visitNodes((value as ASTNode).args, visit);
  }
}
