import { controllerReference, type DeepReadonly, type KubeObject, type ObjectKey, Secret } from '@slipway/kube';

import type { APIServer } from '../api/components.ts';
import type { ComponentClient } from '../component/guarded-client.ts';
import { applyOnce } from '../apply-once.ts';
import type { AdminAccess } from './admin-access.ts';

const dataKey = 'kubeconfig';

/** Where the admin kubeconfig of an API server lies: not in its status, which more people may read. */
export function accessSecretName(name: string): string {
  return `${name}.apiserver-admin`;
}

export async function writeAccessSecret(
  client: ComponentClient,
  apiServer: DeepReadonly<APIServer>,
  access: AdminAccess,
): Promise<{ name: string; key: string }> {
  const name = accessSecretName(apiServer.metadata.name!);
  await applyOnce(client, Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: apiServer.metadata.namespace,
      ownerReferences: [controllerReference(apiServer as DeepReadonly<KubeObject>)],
    },
    type: 'Opaque',
    data: { [dataKey]: Buffer.from(access.kubeconfig).toString('base64') },
  } as KubeObject);
  return { name, key: dataKey };
}

/** Does not wait for the garbage collector: with the API server gone its credentials are only a risk. */
export async function removeAccessSecret(client: ComponentClient, key: ObjectKey): Promise<void> {
  await client.delete(Secret, { namespace: key.namespace, name: accessSecretName(key.name) });
}

/** The admin kubeconfig of an API server, wherever it is kept; undefined when there is none yet. */
export async function readAdminKubeconfig(
  client: Pick<ComponentClient, 'get'>,
  apiServer: DeepReadonly<APIServer>,
): Promise<string | undefined> {
  const { kubeconfig, secretRef } = apiServer.status?.adminAccess ?? {};
  if (kubeconfig) return kubeconfig;
  if (!secretRef) return undefined;
  const secret = await client.get(Secret, { name: secretRef.name, namespace: apiServer.metadata.namespace });
  const encoded = secret?.data?.[secretRef.key];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}
