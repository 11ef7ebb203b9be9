import type { ObjectKey } from '@slipway/kube';

import { names } from './names.ts';

const secondName = 'v1.openmcp.cloud/mcp-name';
const secondNamespace = 'v1.openmcp.cloud/mcp-namespace';

/** The labels by which an object elsewhere is known to belong to a control plane. */
export function backReferences({ namespace = '', name }: ObjectKey): Record<string, string> {
  return { [names.mcpNameLabel]: name, [names.mcpNamespaceLabel]: namespace };
}

/** The same on objects of the second architecture, which has control planes of its own under the other labels. */
export function secondArchitectureReferences({ namespace = '', name }: ObjectKey): Record<string, string> {
  return { [secondName]: name, [secondNamespace]: namespace };
}

/** Whose an object is by those labels, of either architecture. */
export function ownerOf(labels: Readonly<Record<string, string>>): ObjectKey | undefined {
  const name = labels[secondName] ?? labels[names.mcpNameLabel];
  const namespace = labels[secondNamespace] ?? labels[names.mcpNamespaceLabel];
  return name && namespace ? { name, namespace } : undefined;
}
