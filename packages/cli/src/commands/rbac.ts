import { yamlStream, type PolicyRule } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import { defaultNamespace } from '../install-objects.ts';
import { rbacObjects } from '../permissions.ts';
import { slipwayCommand, type ChosenVariant } from '../slipway-command.ts';

/** `slipway rbac`: exactly what the chosen operators may do, as YAML. */
export const command = slipwayCommand({
  takesOperators: true,
  operatorFlags: 'variants',
  flags: {
    namespace: {
      type: 'string',
      value: 'name',
      summary: 'namespace of the ServiceAccounts',
      default: defaultNamespace,
    },
    'metrics-require-token': {
      type: 'boolean',
      summary: 'also what slipway run needs with this flag: asking whose a token is',
    },
  },
  examples: [{ line: 'slipway rbac operand' }],
  async run({ terminal, choice, variants, flags }) {
    const { namespace } = flags;
    const { operators } = await choice();
    const chosen = await Promise.all(operators.map((operator) => varied(operator, variants)));
    // The accounts need it, and a cluster that never saw Slipway lacks it.
    const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    terminal.out(
      yamlStream([home, ...rbacObjects(chosen, { namespace, asksForToken: () => flags['metrics-require-token'] })]),
    );
  },
});

/** The operator with the permissions of the variants that were asked for. */
async function varied(operator: OperatorDescription, variants: readonly ChosenVariant[]): Promise<OperatorDescription> {
  const own = variants.filter((each) => each.operator === operator);
  if (own.length === 0) return operator;
  const permissions: PolicyRule[] = [];
  for (const { variant, value } of own) permissions.push(...(await variant.permissions(value)));
  return { ...operator, permissions };
}
