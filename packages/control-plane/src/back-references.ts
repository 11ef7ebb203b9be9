import type { ObjectKey } from '@slipway/kube';

import { names } from './names.ts';

/** The labels by which an object elsewhere is known to belong to a control plane. */
export function backReferences({ namespace = '', name }: ObjectKey): Record<string, string> {
  return { [names.mcpNameLabel]: name, [names.mcpNamespaceLabel]: namespace };
}

/** The same on objects of the second architecture, which has control planes of its own under the other labels. */
export function secondArchitectureReferences({ namespace = '', name }: ObjectKey): Record<string, string> {
  return { 'v1.openmcp.cloud/mcp-name': name, 'v1.openmcp.cloud/mcp-namespace': namespace };
}
