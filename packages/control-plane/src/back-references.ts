import type { ObjectKey } from '@slipway/kube';

import { names } from './names.ts';

/** The labels by which an object elsewhere is known to belong to a control plane. */
export function backReferences({ namespace = '', name }: ObjectKey): Record<string, string> {
  return { [names.mcpNameLabel]: name, [names.mcpNamespaceLabel]: namespace };
}
