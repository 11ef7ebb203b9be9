import type { DeepReadonly } from '@slipway/kube';
import { HealthRules, ManifestError, type HealthRule } from '@slipway/manifests';

import type { Operand } from '../api.ts';

type GivenRule = NonNullable<DeepReadonly<Operand>['spec']['healthRules']>[number];

/** The Operand's own health rules. Throws a {@link ManifestError} that names the field of one that cannot be used. */
export function healthRulesOf(operand: DeepReadonly<Operand>): HealthRules {
  const rules = (operand.spec.healthRules ?? []).map((rule, index): HealthRule => {
    const field = `spec.healthRules[${index}]`;
    return {
      group: rule.group ?? '',
      kind: rule.kind,
      current: question(rule.current, `${field}.current`),
      ...(rule.failed ? { failed: question(rule.failed, `${field}.failed`) } : {}),
      ...(rule.message ? { message: question(rule.message, `${field}.message`) } : {}),
    };
  });
  try {
    return new HealthRules(rules);
  } catch (error) {
    throw new ManifestError([{ source: 'spec.healthRules', message: (error as Error).message }]);
  }
}

function question(given: GivenRule['current'], field: string): HealthRule['current'] {
  const { expression, path, equals } = given;
  if ((expression === undefined) === (path === undefined))
    throw new ManifestError([{ source: field, message: 'needs either an expression or a path' }]);
  if (expression !== undefined) return expression;
  return { path: path!, ...(equals === undefined ? {} : { equals }) };
}
