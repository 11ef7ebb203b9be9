import {
  newObject,
  ownerReference,
  Role,
  RoleBinding,
  ServiceAccount,
  type Client,
  type DeepReadonly,
  type KubeObject,
} from '@slipway/kube';

import type { BtpOperator } from '../api.ts';
import { names } from '../names.ts';

/** What the probe runs as: it reads the token URL from the required Secret and notes what it found on the BtpOperator. */
export async function ensureProbeAccess(
  client: Client,
  name: string,
  btp: DeepReadonly<BtpOperator>,
  secretName: string,
): Promise<void> {
  const { namespace } = names.primary;
  // It goes with the BtpOperator, by the hand of the garbage collector.
  const metadata = { namespace, name, ownerReferences: [ownerReference(btp)] };
  const group = 'rbac.authorization.k8s.io';
  const rules = [
    { apiGroups: [names.group], resources: ['btpoperators'], verbs: ['get', 'patch'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: [secretName], verbs: ['get'] },
  ];
  const objects = [
    newObject(ServiceAccount, { metadata }),
    newObject(Role, { metadata, rules }),
    newObject(RoleBinding, {
      metadata,
      roleRef: { apiGroup: group, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    }),
  ];
  for (const object of objects as KubeObject[])
    await client.apply(object, { fieldManager: names.fieldManager, force: true });
}
