import type { OperatorDescription } from '@slipway/runtime';
import { stringify } from 'yaml';

import { rbacObjects } from '../permissions.ts';
import type { CommandContext } from './context.ts';

/** `slipway rbac`: exactly what the chosen operators may do, as YAML. */
export function rbacCommand(
  { terminal }: CommandContext,
  operators: readonly OperatorDescription[],
  flags: { namespace?: string },
): void {
  const objects = rbacObjects(operators, flags.namespace ? { namespace: flags.namespace } : {});
  terminal.out(objects.map((object) => stringify(object)).join('---\n'));
}
