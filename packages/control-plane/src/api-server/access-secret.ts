import { controllerReference, type DeepReadonly, type KubeObject, type ObjectKey, Secret } from '@slipway/kube';

import type { APIServer } from '../api/components.ts';
import { applyOnce } from '../apply-once.ts';
import type { ComponentClient } from '../component/guarded-client.ts';
import type { AdminAccess } from './admin-access.ts';

const dataKey = 'kubeconfig';
/** Which cluster the kubeconfig led to when it was written. */
const identityKey = 'cluster-uid';
/** Who provided the API server: nobody else knows how to take it away. */
const providerKey = 'provider';

/** Where the admin kubeconfig of an API server lies: not in its status, which more people may read. */
export function accessSecretName(name: string): string {
  return `${name}.apiserver-admin`;
}

export async function writeAccessSecret(
  client: ComponentClient,
  apiServer: DeepReadonly<APIServer>,
  { kubeconfig, identity, provider }: AdminAccess & { readonly identity: string; readonly provider: string },
): Promise<{ name: string; key: string }> {
  const name = accessSecretName(apiServer.metadata.name!);
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  await applyOnce(client, Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: apiServer.metadata.namespace,
      ownerReferences: [controllerReference(apiServer as DeepReadonly<KubeObject>)],
    },
    type: 'Opaque',
    data: { [dataKey]: encoded(kubeconfig), [identityKey]: encoded(identity), [providerKey]: encoded(provider) },
  } as KubeObject);
  return { name, key: dataKey };
}

/** Does not wait for the garbage collector: with the API server gone its credentials are only a risk. */
export async function removeAccessSecret(client: ComponentClient, key: ObjectKey): Promise<void> {
  await client.delete(Secret, { namespace: key.namespace, name: accessSecretName(key.name) });
}

/** What is known of an API server from before. */
export interface KnownAccess {
  readonly kubeconfig?: string;
  /** Which cluster it was; absent where the kubeconfig is kept in the status. */
  readonly identity?: string;
  /** Who provided it; absent there too. */
  readonly provider?: string;
  /** Where all of it is kept, for people. */
  readonly where?: string;
}

/** The access to an API server, wherever it is kept. */
export async function readAccess(
  client: Pick<ComponentClient, 'get'>,
  apiServer: DeepReadonly<APIServer>,
): Promise<KnownAccess> {
  const { kubeconfig, secretRef } = apiServer.status?.adminAccess ?? {};
  if (kubeconfig) return { kubeconfig };
  if (!secretRef) return {};
  const { namespace } = apiServer.metadata;
  const secret = await client.get(Secret, { name: secretRef.name, namespace });
  const decoded = (key: string): string | undefined => {
    const encoded = secret?.data?.[key];
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
  };
  return {
    kubeconfig: decoded(secretRef.key),
    identity: decoded(identityKey),
    provider: decoded(providerKey),
    where: `Secret ${namespace}/${secretRef.name}`,
  };
}
