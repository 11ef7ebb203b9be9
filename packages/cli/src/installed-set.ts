import { isNotFound, isUnknownKind, type Client, type KubeObject } from '@slipway/kube';
import { membershipOf, refOf, type InventoryEntry } from '@slipway/manifests';

/** Marks what `slipway install` puts onto a cluster. */
export const installMembership = membershipOf('slipway install');

/** Everything `slipway install` has put onto the cluster, of the kinds of `objects`, with whatever choice of operators and namespace. */
export async function findInstalled(
  client: Client,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<InventoryEntry[]> {
  const kinds = new Map(objects.map(({ apiVersion, kind }) => [`${apiVersion}/${kind}`, { apiVersion, kind }]));
  const found: InventoryEntry[] = [];
  for (const { apiVersion, kind } of kinds.values()) {
    try {
      const resolved = await client.resolve(apiVersion, kind, { signal });
      for await (const object of client.list(resolved, { labelSelector: installMembership.label, signal })) {
        found.push({ ...refOf({ apiVersion, kind, metadata: object.metadata }), uid: object.metadata.uid });
      }
    } catch (error) {
      if (!isNotFound(error) && !isUnknownKind(error)) throw error;
    }
  }
  return found;
}
