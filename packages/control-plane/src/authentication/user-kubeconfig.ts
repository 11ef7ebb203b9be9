import { stringify } from 'yaml';

import { clusterEntry } from '../target/kubeconfig.ts';
import type { Target } from '../target/target.ts';
import type { EnabledProvider } from './identity-providers.ts';

export interface UserKubeconfigInput {
  readonly target: Target;
  readonly namespace: string;
  readonly name: string;
  /** Those people log in with. */
  readonly providers: readonly EnabledProvider[];
  /** Client secrets by the name of their provider. */
  readonly clientSecrets: ReadonlyMap<string, string>;
}

/** The kubeconfig of a control plane's users: nobody's credentials, but how to log in with each identity provider. */
export function userKubeconfig({ target, namespace, name, providers, clientSecrets }: UserKubeconfigInput): string {
  const cluster = `mcp-${namespace}-${name}`;
  const contextOf = (provider: string): string => `${cluster}--${provider}`;
  const chosen = providers.find(({ type }) => type === 'user') ?? providers[0];
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: clusterEntry(target.server, target.certificateAuthority) }],
    users: providers.map((each) => ({ name: each.provider.name, user: { exec: login(each, clientSecrets) } })),
    contexts: providers.map(({ provider }) => ({
      name: contextOf(provider.name),
      context: { cluster, user: provider.name, namespace: 'default' },
    })),
    'current-context': chosen ? contextOf(chosen.provider.name) : '',
  });
}

/** Flags of the login command, which a provider may change and add to. Made anew for each, so that none sees another's. */
function usualFlags(): Map<string, readonly string[]> {
  return new Map([
    ['oidc-pkce-method', ['auto']],
    ['grant-type', ['auto']],
    ['oidc-extra-scope', ['offline_access', 'email', 'profile']],
  ]);
}

function login({ provider }: EnabledProvider, clientSecrets: ReadonlyMap<string, string>): Record<string, unknown> {
  const flags = usualFlags();
  for (const [flag, { value, values }] of Object.entries(provider.clientConfig?.extraConfig ?? {})) {
    flags.set(flag, values ?? (value === undefined ? [] : [value]));
  }
  const secret = clientSecrets.get(provider.name);
  return {
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command: 'kubectl',
    args: [
      'oidc-login',
      'get-token',
      `--oidc-issuer-url=${provider.issuerURL}`,
      `--oidc-client-id=${provider.clientID}`,
      ...[...flags].flatMap(([flag, values]) =>
        values.length === 0 ? [`--${flag}`] : values.map((value) => `--${flag}=${value}`),
      ),
      ...(secret === undefined ? [] : [`--oidc-client-secret=${secret}`]),
    ],
  };
}
