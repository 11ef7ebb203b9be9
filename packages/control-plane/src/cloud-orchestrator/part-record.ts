import { type Client, ConfigMap, Namespace } from '@slipway/kube';
import type { Inventory } from '@slipway/manifests';

import { applyOnce } from '../apply-once.ts';
import { names } from '../names.ts';
import type { Part } from './parts.ts';

/** What was installed for a part, kept on the control plane itself: whoever comes after a crash, or another operator, finds it. */
export interface PartRecord {
  /** Objects from manifests. */
  readonly inventory: Inventory;
  /** The release of a chart. */
  readonly release?: { readonly name: string; readonly namespace: string };
}

const inventoryKey = 'inventory';
const releaseKey = 'release';

export async function readRecord(client: Client, part: Part): Promise<PartRecord> {
  const { [inventoryKey]: inventory, [releaseKey]: release } =
    (await client.get(ConfigMap, recordKey(part)))?.data ?? {};
  return {
    inventory: inventory === undefined ? [] : (JSON.parse(inventory) as Inventory),
    ...(release === undefined ? {} : { release: JSON.parse(release) as PartRecord['release'] }),
  };
}

export async function writeRecord(client: Client, part: Part, { inventory, release }: PartRecord): Promise<void> {
  const system = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: names.systemNamespace } };
  if ((await client.get(Namespace, { name: names.systemNamespace })) === undefined) await client.apply(system);
  await applyOnce(client, ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: recordKey(part),
    data: {
      [inventoryKey]: JSON.stringify(inventory),
      ...(release ? { [releaseKey]: JSON.stringify(release) } : {}),
    },
  });
}

export async function dropRecord(client: Client, part: Part): Promise<void> {
  await client.delete(ConfigMap, recordKey(part));
}

function recordKey(part: Part) {
  return { namespace: names.systemNamespace, name: `cloud-orchestrator-${part.toLowerCase()}` };
}
