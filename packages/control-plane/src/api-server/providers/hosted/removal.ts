import { Deployment, type Kind, Namespace, PersistentVolumeClaim, StatefulSet } from '@slipway/kube';

import { namespaceOwner } from './namespace.ts';
import { objectNames, type Place } from './place.ts';

/** Whoever writes goes before what it writes to. */
const order: readonly { readonly kind: Kind; readonly name: string; readonly what: string }[] = [
  { kind: Deployment, name: objectNames.controllerManager, what: 'the controller manager' },
  { kind: Deployment, name: objectNames.apiServer, what: 'the API server' },
  { kind: StatefulSet, name: objectNames.etcd, what: 'etcd' },
];

/** Takes a control plane away, part by part. Answers what it waits for. */
export async function removeControlPlane(place: Place): Promise<string | undefined> {
  const { client, namespace } = place;
  const owner = await namespaceOwner(place);
  if (owner === 'nobody' || owner === 'foreign') return undefined;
  for (const { kind, name, what } of order) {
    const key = { namespace, name };
    const found = await client.get(kind, key);
    if (found === undefined) continue;
    // In the foreground: it stays until its last pod has ended.
    if (!found.metadata.deletionTimestamp) await client.delete(kind, key, { propagationPolicy: 'Foreground' });
    if (await client.get(kind, key)) return `waiting for ${what} to end`;
  }
  // Nothing else takes the data of a StatefulSet away; a namespace would, but late and without a word.
  let claims = 0;
  for await (const { metadata } of client.list(PersistentVolumeClaim, { namespace })) {
    claims += 1;
    if (!metadata.deletionTimestamp) await client.delete(PersistentVolumeClaim, { namespace, name: metadata.name! });
  }
  if (claims > 0) return 'waiting for the data of etcd to be removed';
  if (owner === 'ours') await client.delete(Namespace, { name: namespace });
  return (await client.get(Namespace, { name: namespace })) ? 'waiting for the rest to be removed' : undefined;
}
