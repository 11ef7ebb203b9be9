import {
  CustomResourceDefinition,
  defineKind,
  isNotFound,
  isUnknownKind,
  type KubeObject,
  type ObjectOf,
  toCustomResourceDefinition,
  Type,
} from '@slipway/kube';

import { applyOnce } from '../apply-once.ts';
import { names } from '../names.ts';
import type { Target } from '../target/target.ts';
import type { EnabledProvider } from './identity-providers.ts';

/** How a control plane is told whom to trust, by whoever serves it (Gardener's webhook authenticator). */
export const OpenIDConnect = defineKind({
  group: 'authentication.gardener.cloud',
  version: 'v1alpha1',
  kind: 'OpenIDConnect',
  scope: 'Cluster',
  plural: 'openidconnects',
  spec: Type.Object({
    issuerURL: Type.String(),
    clientID: Type.String(),
    usernameClaim: Type.Optional(Type.String()),
    usernamePrefix: Type.Optional(Type.String()),
    groupsClaim: Type.Optional(Type.String()),
    groupsPrefix: Type.Optional(Type.String()),
    caBundle: Type.Optional(Type.String({ format: 'byte' })),
    supportedSigningAlgs: Type.Optional(Type.Array(Type.String())),
    requiredClaims: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
});
export type OpenIDConnect = ObjectOf<typeof OpenIDConnect>;

const managedBy = { [names.managedByLabel]: 'Authentication' };

export async function installDefinition({ client }: Target): Promise<void> {
  await applyOnce(client, CustomResourceDefinition, toCustomResourceDefinition(OpenIDConnect) as KubeObject);
}

/** Makes one object for each identity provider. */
export async function writeProviders({ client }: Target, enabled: readonly EnabledProvider[]): Promise<void> {
  for (const each of enabled) await applyOnce(client, OpenIDConnect, openIDConnect(each));
}

/** The same facts in the words of the other side: a bundle is bytes there, and the algorithms have another name. */
export function openIDConnect({ type, provider }: EnabledProvider): KubeObject {
  const { name, issuerURL, clientID, usernameClaim, groupsClaim, caBundle, signingAlgs, requiredClaims } = provider;
  return {
    apiVersion: OpenIDConnect.apiVersion,
    kind: OpenIDConnect.kind,
    metadata: { name, labels: { ...managedBy, [names.idpTypeLabel]: type } },
    spec: {
      issuerURL,
      clientID,
      usernameClaim,
      usernamePrefix: `${name}:`,
      groupsPrefix: `${name}:`,
      ...(groupsClaim ? { groupsClaim } : {}),
      ...(caBundle ? { caBundle: Buffer.from(caBundle).toString('base64') } : {}),
      ...(signingAlgs ? { supportedSigningAlgs: [...signingAlgs] } : {}),
      ...(requiredClaims ? { requiredClaims: { ...requiredClaims } } : {}),
    },
  };
}

/** Takes away ours that are not to be kept; somebody else's stay. */
export async function dropProviders({ client }: Target, kept: ReadonlySet<string>): Promise<void> {
  try {
    for await (const present of client.list(OpenIDConnect, { labelSelector: managedBy })) {
      if (!kept.has(present.metadata.name!)) await client.delete(OpenIDConnect, { name: present.metadata.name! });
    }
  } catch (error) {
    // Where the kind was never known there is nothing of it to remove.
    if (kept.size > 0 || !(isUnknownKind(error) || isNotFound(error))) throw error;
  }
}
