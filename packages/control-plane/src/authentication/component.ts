import { isNotFound, isUnknownKind, type KubeObject, Secret, toCustomResourceDefinition } from '@slipway/kube';

import { ComponentError } from '../component/component-error.ts';
import { dependencyFinalizer } from '../component/component-type.ts';
import type { ComponentContext, ComponentDefinition } from '../component/define-component.ts';
import { names } from '../names.ts';
import { targetOf } from '../api-server/target-of.ts';
import type { ConnectTarget, Target } from '../target/target.ts';
import { type AuthenticationConfig, type EnabledProvider, enabledProviders } from './identity-providers.ts';
import { OpenIDConnect } from './open-id-connect.ts';
import { userKubeconfig } from './user-kubeconfig.ts';

export interface AuthenticationOptions {
  readonly connect: ConnectTarget;
  readonly config: AuthenticationConfig;
  /** Bring the definition of OpenIDConnect to control planes that have none. Default false: whoever serves them brings it. */
  readonly installDefinition?: boolean;
}

const managedBy = { [names.managedByLabel]: 'Authentication' };
const kubeconfigKey = 'kubeconfig';

/** The component that says who may log in to a control plane. */
export function authenticationComponent(options: AuthenticationOptions): ComponentDefinition<'Authentication'> {
  return {
    type: 'Authentication',
    dependsOn: ['APIServer'],
    async apply(context) {
      const target = await targetOf(context, options.connect);
      const enabled = enabledProviders(context.component.spec, options.config);
      if (options.installDefinition) await installDefinition(target);
      await writeProviders(target, enabled);
      await dropProviders(target, new Set(enabled.map(({ provider }) => provider.name)));
      return { status: { access: await writeUserKubeconfig(context, target, enabled) } };
    },
    isReady: () => ({ ready: true }),
    async remove(context) {
      await dropProviders(await targetOf(context, options.connect), new Set());
      await removeUserKubeconfig(context);
    },
  };
}

async function installDefinition({ client }: Target): Promise<void> {
  await client.apply(toCustomResourceDefinition(OpenIDConnect) as KubeObject);
}

async function writeProviders({ client }: Target, enabled: readonly EnabledProvider[]): Promise<void> {
  for (const { type, provider } of enabled) {
    const { name, clientConfig: _login, ...rest } = provider;
    await client.apply({
      apiVersion: OpenIDConnect.apiVersion,
      kind: OpenIDConnect.kind,
      metadata: { name, labels: { ...managedBy, [names.idpTypeLabel]: type } },
      spec: { ...rest, usernamePrefix: `${name}:`, groupsPrefix: `${name}:` },
    } as KubeObject);
  }
}

async function dropProviders({ client }: Target, kept: ReadonlySet<string>): Promise<void> {
  try {
    for await (const present of client.list(OpenIDConnect, { labelSelector: managedBy })) {
      if (!kept.has(present.metadata.name!)) await client.delete(OpenIDConnect, { name: present.metadata.name! });
    }
  } catch (error) {
    // Where the kind was never known there is nothing of it to remove.
    if (kept.size > 0 || !(isUnknownKind(error) || isNotFound(error))) throw error;
  }
}

async function writeUserKubeconfig(
  context: ComponentContext<'Authentication'>,
  target: Target,
  providers: readonly EnabledProvider[],
): Promise<{ name: string; namespace: string; key: string }> {
  const { namespace = '', name } = context.key;
  const clientSecrets = await readClientSecrets(context, providers);
  const kubeconfig = userKubeconfig({ target, namespace, name, providers, clientSecrets });
  const secret = secretName(name);
  await context.client.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secret, namespace, finalizers: [dependencyFinalizer('Authentication')] },
    type: 'Opaque',
    data: { [kubeconfigKey]: Buffer.from(kubeconfig).toString('base64') },
  } as KubeObject);
  return { name: secret, namespace, key: kubeconfigKey };
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

async function removeUserKubeconfig(context: ComponentContext<'Authentication'>): Promise<void> {
  const key = { namespace: context.key.namespace, name: secretName(context.key.name) };
  const secret = await context.client.get(Secret, key);
  if (secret === undefined) return;
  await context.client.delete(Secret, key);
  const body = { metadata: { uid: secret.metadata.uid, finalizers: withoutOurs(secret.metadata.finalizers ?? []) } };
  try {
    await context.client.patch(Secret, key, { type: 'merge', body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function withoutOurs(finalizers: readonly string[]): string[] {
  return finalizers.filter((finalizer) => finalizer !== dependencyFinalizer('Authentication'));
}

function secretName(name: string): string {
  return `${name}.kubeconfig`;
}
