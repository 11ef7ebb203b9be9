import { stringify } from 'yaml';

import { chooseOperators } from '../operators.ts';
import { rbacObjects } from '../permissions.ts';
import type { CommandContext } from './context.ts';

/** `slipway rbac`: exactly what the chosen operators may do, as YAML. */
export function rbacCommand(
  { terminal, operators }: CommandContext,
  names: readonly string[],
  flags: { namespace?: string },
): void {
  const objects = rbacObjects(chooseOperators(operators, names), {
    ...(flags.namespace ? { namespace: flags.namespace } : {}),
  });
  terminal.out(objects.map((object) => stringify(object)).join('---\n'));
}
