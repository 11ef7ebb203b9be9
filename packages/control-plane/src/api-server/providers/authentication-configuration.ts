import { type Client, type DeepReadonly, isNotFound, isUnknownKind } from '@slipway/kube';
import type { Watch } from '@slipway/runtime';
import { stringify } from 'yaml';

import { Authentication } from '../../api/components.ts';
import { statusChanged } from '../../component/predicates.ts';
import { OpenIDConnect } from '../../target/open-id-connect.ts';

/** Name of the file an API server reads. */
export const authenticationFile = 'authentication.yaml';

/**
 * Whom an API server trusts: those the OpenIDConnects on it name. Gardener has a webhook that reads them; here we do, and the API server reads the file
 * again by itself. Also what had to be left out.
 */
export async function authenticationConfiguration(
  client: Pick<Client, 'list'>,
): Promise<{ readonly text: string; readonly leftOut: readonly string[] }> {
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
  return { text: configurationText(kept.map(issuer)), leftOut };
}

/** The Authentication component says so when it has changed them. */
export const identityProvidersChanged = {
  kind: Authentication,
  predicates: [statusChanged],
  map: ({ key }) => [key],
} satisfies Watch as Watch;

/** A file that trusts nobody. */
export const trustsNobody: string = configurationText([]);

function configurationText(jwt: readonly Record<string, unknown>[]): string {
  return stringify({ apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration', jwt });
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
