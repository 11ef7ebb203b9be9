import type { Client, DeepReadonly, Kind, KubeObject } from '@slipway/kube';
import { isAppliedAlready } from '@slipway/manifests';

import type { WatchedTarget } from './target/target-watch.ts';

/** Who owns the fields the operator writes on other clusters. */
export const fieldManager = 'control-plane';

/** Applies an object unless that would change nothing. Answers what is there, and whether it had to be written. */
export async function applyOnce(
  client: Pick<Client, 'get' | 'apply'>,
  kind: Kind,
  object: KubeObject,
): Promise<{ readonly object: KubeObject; readonly changed: boolean }> {
  const { name, namespace } = object.metadata;
  const live = await client.get(kind, { name: name!, namespace });
  if (live !== undefined && isAppliedAlready(object, live, fieldManager)) return { object: live, changed: false };
  return { object: await client.apply(object, { fieldManager }), changed: true };
}

/** The same for all objects of a kind that is watched on a control plane, without a read for each. Answers those that were there. */
export async function applyAllOnce(
  target: Pick<WatchedTarget, 'client' | 'list'>,
  kind: Kind,
  objects: readonly KubeObject[],
): Promise<readonly DeepReadonly<KubeObject>[]> {
  const idOf = ({ metadata }: DeepReadonly<KubeObject>): string => `${metadata.namespace ?? ''}/${metadata.name}`;
  const found = await target.list(kind);
  const byId = new Map(found.map((present) => [idOf(present), present]));
  for (const object of objects) {
    const live = byId.get(idOf(object));
    if (live === undefined || !isAppliedAlready(object, live, fieldManager))
      await target.client.apply(object, { fieldManager });
  }
  return found;
}
