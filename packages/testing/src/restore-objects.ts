import type { Client, Kind, KubeObject } from '@slipway/kube';

import { established } from './install-kinds.ts';
import type { TestCluster } from './test-cluster.ts';

/**
 * Puts objects onto a cluster as they were on another one, with their status, owners and field managers: the state an earlier
 * version has left behind. Uids are given by the cluster; wherever an old one is written down, the new one takes its place.
 * Definitions and namespaces come first in `objects`.
 */
export async function restoreObjects(cluster: TestCluster, objects: readonly KubeObject[]): Promise<void> {
  const { client } = cluster;
  const uids = new Map<string, string>();
  for (const object of objects) {
    const { uid } = (await client.create(bare(object))).metadata;
    uids.set(object.metadata.uid!, uid!);
    if (object.kind === 'CustomResourceDefinition') await established(cluster, object.metadata.name!);
  }
  for (const object of objects) await complete(client, withUids(object, uids));
}

/** What a new object may bring. Owners and status wait until everybody has a uid. */
function bare(object: KubeObject): KubeObject {
  const { status: _status, ...rest } = object;
  const {
    uid: _uid,
    managedFields: _fields,
    ownerReferences: _owners,
    generation: _generation,
    ...metadata
  } = object.metadata;
  return { ...rest, metadata };
}

function withUids(object: KubeObject, uids: ReadonlyMap<string, string>): KubeObject {
  let text = JSON.stringify(object);
  for (const [old, present] of uids) text = text.replaceAll(old, present);
  return JSON.parse(text) as KubeObject;
}

async function complete(client: Client, object: KubeObject): Promise<void> {
  const { name = '', namespace, ownerReferences, labels, annotations, managedFields } = object.metadata;
  const kind: Kind = await client.resolve(object.apiVersion, object.kind);
  const key = { name, ...(namespace === undefined ? {} : { namespace }) };
  const patch = (body: Readonly<Record<string, unknown>>, subresource?: 'status') =>
    client.patch(kind, key, { type: 'merge', body }, subresource ? { subresource } : {});
  if (object['status'] !== undefined) await patch({ status: object['status'] }, 'status');
  await patch({ metadata: { ownerReferences, labels, annotations } });
  // Last and alone: whoever changes a field becomes its manager.
  if (managedFields !== undefined) await patch({ metadata: { managedFields } });
}
