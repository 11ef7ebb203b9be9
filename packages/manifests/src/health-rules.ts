import type { DeepReadonly, KubeObject } from '@slipway/kube';

import { compileBoundedCel } from './bounded-cel.ts';
import { healthOf, type Health, type HealthFacts } from './health.ts';
import { groupOf } from './identity.ts';
import { compileJsonPath } from './json-path.ts';

/** A look at one field: does it have this value, or (without `equals`) any. Of several values found, one is enough. */
export interface PathTest {
  /** As in kubectl: `.status.phase`, `.status.conditions[?(@.type=="Ready")].status`. */
  readonly path: string;
  /** Compared as text: `'true'` and `true` are the same. Default: the field is there and not null. */
  readonly equals?: string | number | boolean;
}

/**
 * When objects of one kind are healthy: in CEL over the object (`object`), such as `object.status.phase == "Running"`, or by
 * the value of a field. `failed` is asked first, then `current`; neither true means in progress. An expression that fails to
 * evaluate (a field that is not there yet) counts as not true.
 */
export interface HealthRule {
  readonly group: string;
  readonly kind: string;
  readonly current: string | PathTest;
  readonly failed?: string | PathTest;
  /** The text shown to people: CEL, or the field that holds it. Default: a generic sentence. */
  readonly message?: string | Pick<PathTest, 'path'>;
}

type Question = (object: unknown) => unknown;

interface CompiledRule {
  readonly current: Question;
  readonly failed?: Question;
  readonly message?: Question;
}

/** The health of any object: the user's own rules first, the built-in ones otherwise. */
export class HealthRules {
  readonly #rules = new Map<string, CompiledRule>();

  /** Throws an error that names the rule and the place when an expression or a path does not parse. */
  constructor(rules: readonly HealthRule[] = []) {
    for (const rule of rules) {
      this.#rules.set(`${rule.group}/${rule.kind}`, {
        current: compile(rule, 'current', rule.current),
        ...(rule.failed === undefined ? {} : { failed: compile(rule, 'failed', rule.failed) }),
        ...(rule.message === undefined ? {} : { message: compileMessage(rule, rule.message) }),
      });
    }
  }

  of(object: DeepReadonly<KubeObject>, facts?: HealthFacts): Health {
    const rule = this.#rules.get(`${groupOf(object.apiVersion)}/${object.kind}`);
    if (!rule || object.metadata.deletionTimestamp) return healthOf(object, facts);
    const message = rule.message?.(object);
    const say = (fallback: string) => (typeof message === 'string' && message !== '' ? message : fallback);
    if (rule.failed?.(object) === true) return { status: 'Failed', message: say('it failed by its rule') };
    if (rule.current(object) === true) return { status: 'Current', message: say('it is as its rule asks') };
    return { status: 'InProgress', message: say('it is not yet as its rule asks') };
  }
}

function compile(rule: HealthRule, part: string, test: string | PathTest): Question {
  if (typeof test === 'string') return compileCel(rule, part, test);
  const find = named(rule, part, () => compileJsonPath(test.path));
  const { equals } = test;
  return (object) =>
    find(object).some((value) =>
      equals === undefined ? value !== null && value !== undefined : isText(value) && String(value) === String(equals),
    );
}

function compileMessage(rule: HealthRule, message: string | Pick<PathTest, 'path'>): Question {
  if (typeof message === 'string') return compileCel(rule, 'message', message);
  const find = named(rule, 'message', () => compileJsonPath(message.path));
  return (object) => {
    const value = find(object)[0];
    return isText(value) ? String(value) : undefined;
  };
}

function isText(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function compileCel(rule: HealthRule, part: string, expression: string): Question {
  const program = named(rule, part, () => compileBoundedCel(expression));
  return (object) => {
    try {
      return program({
        object,
        status: (object as { status?: unknown }).status ?? {},
        spec: (object as { spec?: unknown }).spec ?? {},
      });
    } catch {
      return undefined;
    }
  };
}

function named<T>(rule: HealthRule, part: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(
      `health rule for ${rule.kind}, ${part}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
