import { ConfigMap, type DeepReadonly, isNotFound, isUnknownKind } from '@slipway/kube';
import { stringify } from 'yaml';

import { applyOnce } from '../../../apply-once.ts';
import { OpenIDConnect } from '../../../target/open-id-connect.ts';
import type { Target } from '../../../target/target.ts';
import { metadataIn, object, objectNames, type Place } from './place.ts';

/** Name of the file the API server reads. */
export const authenticationFile = 'authentication.yaml';

/** Step 6: the file with the identity providers, empty at first: the API server does not start without it. */
export async function ensureAuthenticationFile(place: Place): Promise<void> {
  const key = { namespace: place.namespace, name: objectNames.authentication };
  if (await place.client.get(ConfigMap, key)) return;
  await writeFile(place, []);
}

/**
 * Step 10: the API server trusts whom the OpenIDConnects on it name. Gardener has a webhook that reads them; here we do, and the API server
 * reads the file again by itself. Answers what had to be left out.
 */
export async function followIdentityProviders(place: Place, { client }: Pick<Target, 'client'>): Promise<string[]> {
  const found: DeepReadonly<OpenIDConnect>[] = [];
  try {
    for await (const provider of client.list(OpenIDConnect)) found.push(provider);
  } catch (error) {
    // The Authentication component brings the kind. Until then there is nobody to trust.
    if (!isUnknownKind(error) && !isNotFound(error)) throw error;
  }
  found.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  // One file with something the API server refuses would keep it from starting again.
  const [kept, leftOut] = separate(found);
  await writeFile(place, kept.map(issuer));
  return leftOut;
}

function separate(providers: readonly DeepReadonly<OpenIDConnect>[]): [DeepReadonly<OpenIDConnect>[], string[]] {
  const kept: DeepReadonly<OpenIDConnect>[] = [];
  const leftOut: string[] = [];
  for (const provider of providers) {
    const { issuerURL } = provider.spec;
    const twin = kept.find(({ spec }) => spec.issuerURL === issuerURL);
    const problem = twin
      ? `its issuer is that of ${twin.metadata.name}, and an API server takes each issuer once`
      : isHttps(issuerURL)
        ? undefined
        : 'its issuer is no https address';
    if (problem) leftOut.push(`identity provider ${provider.metadata.name} does not count: ${problem}`);
    else kept.push(provider);
  }
  return [kept, leftOut];
}

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:' && !new URL(text).search && !new URL(text).hash;
}

function issuer({ spec }: DeepReadonly<OpenIDConnect>): Record<string, unknown> {
  const {
    issuerURL,
    clientID,
    caBundle,
    usernameClaim = 'sub',
    usernamePrefix = '',
    groupsClaim,
    groupsPrefix = '',
  } = spec;
  const required = Object.entries(spec.requiredClaims ?? {});
  return {
    issuer: {
      url: issuerURL,
      audiences: [clientID],
      ...(caBundle ? { certificateAuthority: Buffer.from(caBundle, 'base64').toString('utf8') } : {}),
    },
    claimMappings: {
      username: { claim: usernameClaim, prefix: usernamePrefix },
      ...(groupsClaim ? { groups: { claim: groupsClaim, prefix: groupsPrefix } } : {}),
    },
    ...(required.length > 0
      ? { claimValidationRules: required.map(([claim, requiredValue]) => ({ claim, requiredValue })) }
      : {}),
  };
}

async function writeFile(place: Place, jwt: readonly Record<string, unknown>[]): Promise<void> {
  const document = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration', jwt };
  const data = { [authenticationFile]: stringify(document) };
  await applyOnce(
    place.client,
    ConfigMap,
    object('v1', 'ConfigMap', metadataIn(place, objectNames.authentication), { data }),
  );
}
