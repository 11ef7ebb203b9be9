import { isBigInteger } from '../big-integer.ts';
import { equalJson } from '../equal-json.ts';
import type { FieldError } from '../api-error.ts';
import type { CompiledRule, RuleCompiler } from '../cel/environment.ts';
import { ruleCompiler } from '../cel/late-cel.ts';
import { duplicate, printValue, required } from '../kinds/field-errors.ts';
import { asObject } from '../kinds/json-access.ts';
import type { ApiObject, Json } from '../object.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { correlation } from './correlation.ts';

/** The rules of one schema node, compiled. */
export interface CompiledRules {
  readonly rules: readonly {
    readonly rule: ValidationRule;
    readonly compiled: CompiledRule;
    readonly message?: CompiledRule;
  }[];
}

const text: Schema = { type: 'string' };

/** At the root expressions see only the name of the metadata. */
export function ruleSchema(root: Schema): Schema {
  if (!root.properties?.['metadata']) return root;
  const metadata: Schema = { type: 'object', properties: { name: text, generateName: text } };
  const properties = Object.assign(Object.create(null) as Record<string, Schema>, root.properties, { metadata });
  return { ...root, properties };
}

/** Compiles the rules of a node with a compiler that knows its schema. */
export function compileRules(schema: Schema, compiler: RuleCompiler): CompiledRules {
  return {
    rules: (schema.validations ?? []).map((rule) => {
      const oldSelf = rule.optionalOldSelf ? { optional: schema } : schema;
      const variables = { self: schema, oldSelf };
      const compiled = compiler.compile(rule.rule, { variables });
      if (!rule.messageExpression) return { rule, compiled };
      return { rule, compiled, message: compiler.compile(rule.messageExpression, { variables, result: 'string' }) };
    }),
  };
}

/** Whether any node of a schema has rules. */
export function hasRules(schema: Schema): boolean {
  return (
    (schema.validations?.length ?? 0) > 0 ||
    Object.values(schema.properties ?? {}).some(hasRules) ||
    (schema.items !== undefined && hasRules(schema.items)) ||
    (typeof schema.additionalProperties === 'object' && hasRules(schema.additionalProperties))
  );
}

interface Prepared {
  readonly root: Schema;
  readonly hasRules: boolean;
  readonly compiler: () => RuleCompiler;
  readonly compiled: Map<Schema, CompiledRules>;
  readonly busy: Map<Schema, boolean>;
}

const prepared = new WeakMap<Schema, Prepared>();

function prepare(schema: Schema): Prepared {
  const known = prepared.get(schema);
  if (known) return known;
  const root = ruleSchema(schema);
  let compiler: RuleCompiler | undefined;
  const made: Prepared = {
    root,
    hasRules: hasRules(root),
    compiler: () => (compiler ??= ruleCompiler([root])),
    compiled: new Map(),
    busy: new Map(),
  };
  prepared.set(schema, made);
  return made;
}

/** Whether anything in a schema is held to a rule. */
export function isRuled(schema: Schema): boolean {
  return prepare(schema).hasRules;
}

/** Evaluates the rules of a schema on an object, and on what it was before if this is an update. */
export function ruleErrors(object: ApiObject, previous: ApiObject | undefined, schema: Schema): FieldError[] {
  const state = prepare(schema);
  if (!state.hasRules) return [];
  const errors: FieldError[] = [];
  visit(object as unknown as Json, previous as unknown as Json | undefined, state.root, '', state, errors);
  return errors;
}

function nodeHasRules(schema: Schema, state: Prepared): boolean {
  let answer = state.busy.get(schema);
  if (answer === undefined) {
    answer = hasRules(schema);
    state.busy.set(schema, answer);
  }
  return answer;
}

/** `old` is undefined where there is no old value or where it cannot be found. */
function visit(
  value: Json,
  old: Json | undefined,
  schema: Schema,
  path: string,
  state: Prepared,
  errors: FieldError[],
): void {
  if (value === null || !nodeHasRules(schema, state)) return;
  if (schema.validations && schema.validations.length > 0) evaluateNode(value, old, schema, path, state, errors);
  if (Array.isArray(value)) {
    if (!schema.items) return;
    const oldElement = correlation(schema, old);
    for (const [index, item] of value.entries()) {
      visit(item, oldElement(item), schema.items, `${path}[${index}]`, state, errors);
    }
    return;
  }
  const object = asObject(value);
  if (!object) return;
  const oldObject = schema.mapType === 'atomic' ? undefined : asObject(old);
  for (const [name, member] of Object.entries(object)) {
    const property = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (property) visit(member, oldObject?.[name], property, path ? `${path}.${name}` : name, state, errors);
    else if (typeof schema.additionalProperties === 'object') {
      visit(member, oldObject?.[name], schema.additionalProperties, `${path}[${name}]`, state, errors);
    }
  }
}

function evaluateNode(
  value: Json,
  old: Json | undefined,
  schema: Schema,
  path: string,
  state: Prepared,
  errors: FieldError[],
): void {
  let rules = state.compiled.get(schema);
  if (!rules) {
    rules = compileRules(schema, state.compiler());
    state.compiled.set(schema, rules);
  }
  for (const { rule, compiled, message } of rules.rules) {
    const isTransition = compiled.uses.has('oldSelf');
    if (isTransition && old === undefined && !rule.optionalOldSelf) continue;
    // What did not change is not blamed on the writer, unless the rule is about the change itself.
    if (!isTransition && old !== undefined && equalJson(value, old)) continue;
    const values = { self: value, oldSelf: old };
    let outcome: unknown;
    try {
      outcome = compiled.evaluate(values);
    } catch (error) {
      errors.push(
        failure(
          rule,
          value,
          path,
          `${ruleText(rule)}: ${evaluationText(error)} evaluating rule: ${rule.message ?? rule.rule}`,
        ),
      );
      continue;
    }
    if (outcome !== true) errors.push(failure(rule, value, path, messageOf(rule, message, values)));
  }
}

function ruleText(rule: ValidationRule): string {
  return rule.rule.trim();
}

function evaluationText(error: unknown): string {
  const summary = (error as { summary?: string }).summary;
  const found = summary ?? (error instanceof Error ? error.message : String(error));
  return found.replace(/^No such key: /, 'no such key: ');
}

function messageOf(
  rule: ValidationRule,
  expression: CompiledRule | undefined,
  values: Readonly<Record<string, unknown>>,
): string {
  if (expression && !expression.error) {
    try {
      const found = expression.evaluate(values);
      if (typeof found === 'string' && found.trim() !== '' && !/[\n\r]/.test(found)) return found.trim();
    } catch {
      // A message that cannot be computed gives way to the fixed one.
    }
  }
  if (rule.message) return rule.message.trim();
  return `failed rule: ${rule.rule.trim()}`;
}

function failure(rule: ValidationRule, value: Json, path: string, message: string): FieldError {
  const field = rule.fieldPath ? `${path}${rulePath(rule.fieldPath, path)}` : path || '<nil>';
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return { reason: 'FieldValueForbidden', field, detail: `Forbidden: ${message}` };
    case 'FieldValueRequired':
      return required(field, message);
    case 'FieldValueDuplicate':
      return duplicate(field, value);
    default: {
      // Objects and lists are not printed: only their message is.
      const shown = typeof value === 'object' && !isBigInteger(value) ? message : `${printValue(value)}: ${message}`;
      return { reason: 'FieldValueInvalid', field, detail: `Invalid value: ${shown}` };
    }
  }
}

/** The path of a rule starts with a dot or a bracket; at the root the dot goes. */
function rulePath(path: string, parent: string): string {
  const normal = path.replace(/\['([^']*)'\]/g, '.$1');
  return parent === '' ? normal.replace(/^\./, '') : normal;
}
