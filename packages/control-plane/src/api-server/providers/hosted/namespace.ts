import { isTerminating, Namespace } from '@slipway/kube';

import { applyOnce } from '../../../apply-once.ts';
import { ComponentError } from '../../../component/component-error.ts';
import { object, type Place } from './place.ts';

/** Whose the namespace is. A name can be used again by another APIServer, its uid cannot. */
const ownerLabel = 'openmcp.cloud/apiserver-uid';

/** Step 1: a namespace of its own. Answers what is in the way. */
export async function ensureNamespace(place: Place): Promise<string | undefined> {
  const owner = await namespaceOwner(place);
  if (owner === 'going') return 'the control plane that had this name before is still being removed';
  if (owner === 'foreign') {
    throw new ComponentError(
      'ConfigurationProblem',
      'the namespace for this control plane on the host cluster belongs to somebody else; remove it, or take its label openmcp.cloud/apiserver-uid away to hand it over',
    );
  }
  const { namespace: name, labels, apiServer } = place;
  const uid = apiServer.metadata.uid!;
  await applyOnce(
    place.client,
    Namespace,
    object('v1', 'Namespace', { name, labels: { ...labels, [ownerLabel]: uid, ...podSecurity } }, {}),
  );
  return undefined;
}

/** What we run needs no privileges. */
const podSecurity = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** Whose the namespace is, or whether it is on its way out or not there. One without an owner can be taken over if its labels are ours. */
export async function namespaceOwner(place: Place): Promise<'nobody' | 'ours' | 'foreign' | 'going'> {
  const found = await place.client.get(Namespace, { name: place.namespace });
  if (found === undefined) return 'nobody';
  const labels = found.metadata.labels ?? {};
  const owner = labels[ownerLabel];
  const ours = Object.entries(place.labels).every(([name, value]) => labels[name] === value);
  if (!ours || (owner !== undefined && owner !== place.apiServer.metadata.uid)) return 'foreign';
  return isTerminating(found) ? 'going' : 'ours';
}
