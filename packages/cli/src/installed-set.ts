import { isNotFound, isUnknownKind, type Client, type DefinedKind } from '@slipway/kube';
import { membershipOf, refOf, type InventoryEntry } from '@slipway/manifests';
import type { OperatorDescription } from '@slipway/runtime';

import { componentLabel, installObjects } from './install-objects.ts';

/** Marks what `slipway install` puts onto a cluster. */
export const installMembership = membershipOf('slipway install');

/** Something `slipway install` has put onto a cluster. */
export interface InstalledEntry extends InventoryEntry {
  /** The operator it is for; absent for what is shared, and for what an earlier version made for all. */
  readonly operator?: string;
}

/** Kinds that are only made for some settings. */
const occasionalKinds = [{ apiVersion: 'v1', kind: 'ConfigMap' }];

/** Everything `slipway install` has put onto the cluster, with whatever choice of operators and namespace. `operators` are all there are. */
export async function findInstalled(
  client: Client,
  operators: readonly OperatorDescription[],
  signal: AbortSignal,
): Promise<InstalledEntry[]> {
  const objects = [...installObjects(operators, { version: '' }), ...occasionalKinds];
  const kinds = new Map(objects.map(({ apiVersion, kind }) => [`${apiVersion}/${kind}`, { apiVersion, kind }]));
  const owners = definitionOwners(operators);
  const found: InstalledEntry[] = [];
  for (const { apiVersion, kind } of kinds.values()) {
    try {
      const resolved = await client.resolve(apiVersion, kind, { signal });
      for await (const object of client.list(resolved, { labelSelector: installMembership.label, signal })) {
        const ref = refOf({ apiVersion, kind, metadata: object.metadata });
        const operator = object.metadata.labels?.[componentLabel] ?? owners.get(`${ref.kind}/${ref.name}`);
        found.push({ ...ref, uid: object.metadata.uid, ...(operator === undefined ? {} : { operator }) });
      }
    } catch (error) {
      if (!isNotFound(error) && !isUnknownKind(error)) throw error;
    }
  }
  return found;
}

/** Definitions and policies carry no labels of ours: they are known by name. */
function definitionOwners(operators: readonly OperatorDescription[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const operator of operators) {
    for (const kind of operator.kinds) owners.set(`CustomResourceDefinition/${definitionName(kind)}`, operator.name);
    for (const policy of operator.policies ?? []) owners.set(`${policy.kind}/${policy.metadata.name}`, operator.name);
  }
  return owners;
}

export function definitionName(kind: Pick<DefinedKind, 'plural' | 'group'>): string {
  return `${kind.plural}.${kind.group}`;
}

/** The kinds of these whose definitions are installed. */
export function installedKinds(kinds: readonly DefinedKind[], installed: readonly InstalledEntry[]): DefinedKind[] {
  const names = new Set(
    installed.filter((entry) => entry.kind === 'CustomResourceDefinition').map((entry) => entry.name),
  );
  return kinds.filter((kind) => names.has(definitionName(kind)));
}
