import {
  CustomResourceDefinition,
  isNotFound,
  isUnknownKind,
  type KubeObject,
  toCustomResourceDefinition,
} from '@slipway/kube';

import { applyAllOnce, applyOnce } from '../apply-once.ts';
import { names } from '../names.ts';
import { OpenIDConnect } from '../target/open-id-connect.ts';
import type { WatchedTarget } from '../target/target-watch.ts';
import type { Target } from '../target/target.ts';
import type { EnabledProvider } from './identity-providers.ts';

/** How ours are marked. */
export const managedBy = { [names.managedByLabel]: 'Authentication' };

export async function installDefinition({ client }: Target): Promise<void> {
  await applyOnce(client, CustomResourceDefinition, toCustomResourceDefinition(OpenIDConnect) as KubeObject);
}

/** Makes one object for each identity provider, and takes away ours of others; somebody else's stay. */
export async function writeProviders(target: WatchedTarget, enabled: readonly EnabledProvider[]): Promise<void> {
  try {
    const found = await applyAllOnce(target, OpenIDConnect, enabled.map(openIDConnect));
    const kept = new Set(enabled.map(({ provider }) => provider.name));
    for (const { metadata } of found) {
      if (!kept.has(metadata.name!)) await target.client.delete(OpenIDConnect, { name: metadata.name! });
    }
  } catch (error) {
    // Where the kind was never known there is nothing of it to remove.
    if (enabled.length > 0 || !(isUnknownKind(error) || isNotFound(error))) throw error;
  }
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
