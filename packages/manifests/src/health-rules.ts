import type { DeepReadonly, KubeObject } from '@slipway/kube';
import { Environment } from '@marcbachmann/cel-js';

import { healthOf, type Health } from './health.ts';
import { groupOf } from './identity.ts';

/**
 * When objects of one kind are healthy, said in CEL over the object (`object`), such as
 * `object.status.phase == "Running"`. `failed` is asked first, then `current`; neither true means in progress. An expression
 * that fails to evaluate (a field that is not there yet) counts as not true.
 */
export interface HealthRule {
  readonly group: string;
  readonly kind: string;
  readonly current: string;
  readonly failed?: string;
  /** CEL giving the text shown to people. Default: a generic sentence. */
  readonly message?: string;
}

interface CompiledRule {
  readonly current: (object: unknown) => unknown;
  readonly failed?: (object: unknown) => unknown;
  readonly message?: (object: unknown) => unknown;
}

/** The health of any object: the user's own rules first, the built-in ones otherwise. */
export class HealthRules {
  readonly #rules = new Map<string, CompiledRule>();

  /** Throws an error that names the rule and the place when an expression does not parse. */
  constructor(rules: readonly HealthRule[] = []) {
    for (const rule of rules) {
      this.#rules.set(`${rule.group}/${rule.kind}`, {
        current: compile(rule, 'current', rule.current),
        ...(rule.failed === undefined ? {} : { failed: compile(rule, 'failed', rule.failed) }),
        ...(rule.message === undefined ? {} : { message: compile(rule, 'message', rule.message) }),
      });
    }
  }

  of(object: DeepReadonly<KubeObject>): Health {
    const rule = this.#rules.get(`${groupOf(object.apiVersion)}/${object.kind}`);
    if (!rule || object.metadata.deletionTimestamp) return healthOf(object);
    const message = rule.message?.(object);
    const say = (fallback: string) => (typeof message === 'string' ? message : fallback);
    if (rule.failed?.(object) === true) return { status: 'Failed', message: say('failed by its rule') };
    if (rule.current(object) === true) return { status: 'Current', message: say('is as its rule asks') };
    return { status: 'InProgress', message: say('is not yet as its rule asks') };
  }
}

function compile(rule: HealthRule, part: string, expression: string): (object: unknown) => unknown {
  const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
  let program: (context: Record<string, unknown>) => unknown;
  try {
    program = environment.parse(expression) as typeof program;
  } catch (error) {
    throw new Error(
      `health rule for ${rule.kind}, ${part}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
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
