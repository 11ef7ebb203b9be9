import type { Client, Kind, KubeObject } from '@slipway/kube';
import { isAppliedAlready } from '@slipway/manifests';

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
