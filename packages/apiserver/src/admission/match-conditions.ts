import type { CompiledRule, RuleCompiler } from '../cel/environment.ts';
import { ruleCompiler } from '../cel/late-cel.ts';
import { registerAuthorizer, withAccess, type Access } from './authorizer-library.ts';

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

const VARIABLES = {
  object: 'dyn',
  oldObject: 'dyn',
  request: 'dyn',
  params: 'dyn',
  namespaceObject: 'dyn',
  variables: 'dyn',
} as const;
const compiled = new Map<string, CompiledRule>();
const REMEMBERED = 1_000;
let compiler: RuleCompiler | undefined;

/** Compiles an expression of a webhook or a policy; the same text is compiled once. */
export function compileExpression(text: string, result: 'bool' | 'string' | 'dyn'): CompiledRule {
  const key = `${result} ${text}`;
  let rule = compiled.get(key);
  if (!rule) {
    compiler ??= ruleCompiler([], registerAuthorizer);
    rule = compiler.compile(text, { variables: VARIABLES, result });
    compiled.set(key, rule);
    if (compiled.size > REMEMBERED) {
      compiled.delete(compiled.keys().next().value!);
    }
  }
  return rule;
}

export type Verdict = { readonly matches: boolean } | { readonly error: string };

/** Whether all conditions hold. One that is false decides, even when another fails. */
export function evaluateConditions(
  conditions: readonly MatchCondition[],
  values: Record<string, unknown>,
  access: Access,
): Verdict {
  let failure: string | undefined;
  for (const { name, expression } of conditions) {
    try {
      if (withAccess(access, () => compileExpression(expression, 'bool').evaluate(values)) !== true) {
        return { matches: false };
      }
    } catch (error) {
      failure ??= `match condition '${name}': ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return failure === undefined ? { matches: true } : { error: failure };
}
