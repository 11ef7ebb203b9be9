import { isNotFound, type KubeObject, Secret } from '@slipway/kube';

import { applyOnce } from '../apply-once.ts';
import { ComponentError } from '../component/component-error.ts';
import { dependencyFinalizer } from '../component/component-type.ts';
import type { ComponentContext } from '../component/define-component.ts';
import type { Target } from '../target/target.ts';
import type { EnabledProvider } from './identity-providers.ts';
import { userKubeconfig } from './user-kubeconfig.ts';

const kubeconfigKey = 'kubeconfig';

/** Writes the users' kubeconfig where the customer finds it, and answers where that is. */
export async function writeUserKubeconfig(
  context: ComponentContext<'Authentication'>,
  target: Target,
  enabled: readonly EnabledProvider[],
): Promise<{ name: string; namespace: string; key: string }> {
  const { namespace = '', name } = context.key;
  // With that of the onboarding cluster nobody logs in.
  const providers = enabled.filter(({ type }) => type !== 'crate');
  const clientSecrets = await readClientSecrets(context, providers);
  const kubeconfig = userKubeconfig({ target, namespace, name, providers, clientSecrets });
  const key = secretKey(context);
  const { object } = await applyOnce(context.client, Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    // No owner: it goes when the component lets it, not when the garbage collector comes by.
    metadata: { ...key, finalizers: [dependencyFinalizer('Authentication')] },
    type: 'Opaque',
    data: { [kubeconfigKey]: Buffer.from(kubeconfig).toString('base64') },
  } as KubeObject);
  await dropOtherKeys(context, object as Secret);
  return { ...key, namespace, key: kubeconfigKey };
}

/** The Secret is ours alone: what others put into it would be taken for ours. */
async function dropOtherKeys(context: ComponentContext<'Authentication'>, { data = {} }: Secret): Promise<void> {
  const others = Object.keys(data).filter((key) => key !== kubeconfigKey);
  if (others.length === 0) return;
  const body = { data: Object.fromEntries(others.map((key) => [key, null])) };
  await context.client.patch(Secret, secretKey(context), { type: 'merge', body });
}

async function readClientSecrets(
  context: ComponentContext<'Authentication'>,
  providers: readonly EnabledProvider[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { provider } of providers) {
    const reference = provider.clientConfig?.clientSecret;
    if (reference === undefined) continue;
    const secret = await context.client.get(Secret, { namespace: context.key.namespace, name: reference.name });
    const encoded = secret?.data?.[reference.key];
    if (encoded === undefined) {
      throw new ComponentError(
        'ManagingOpenIDConnectResourcesProblem',
        `identity provider ${provider.name}: Secret ${reference.name} with the key ${reference.key} does not exist; create it or correct clientConfig.clientSecret`,
      );
    }
    const value = Buffer.from(encoded, 'base64').toString('utf8');
    context.internal(value);
    found.set(provider.name, value);
  }
  return found;
}

export async function removeUserKubeconfig(context: ComponentContext<'Authentication'>): Promise<void> {
  const key = secretKey(context);
  const secret = await context.client.get(Secret, key);
  if (secret === undefined) return;
  await context.client.delete(Secret, key);
  const finalizers = (secret.metadata.finalizers ?? []).filter(
    (finalizer) => finalizer !== dependencyFinalizer('Authentication'),
  );
  try {
    await context.client.patch(Secret, key, {
      type: 'merge',
      body: { metadata: { uid: secret.metadata.uid, finalizers } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function secretKey({ key }: ComponentContext<'Authentication'>): { name: string; namespace: string } {
  return { name: `${key.name}.kubeconfig`, namespace: key.namespace ?? '' };
}
