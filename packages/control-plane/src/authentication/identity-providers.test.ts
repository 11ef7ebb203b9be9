import { expect, test } from 'vitest';

import { enabledProviders, type IdentityProvider } from './identity-providers.ts';
import { openIDConnect } from './open-id-connect.ts';
import { userKubeconfig } from './user-kubeconfig.ts';
import { parse } from 'yaml';

const provider = (name: string, more: Partial<IdentityProvider> = {}): IdentityProvider => ({
  name,
  issuerURL: `https://${name}.example.com`,
  clientID: `${name}-client`,
  usernameClaim: 'email',
  ...more,
});
const landscape = { systemIdentityProvider: provider('openmcp'), crateIdentityProvider: provider('crate') };

test('those of the landscape come first, then those of the customer', () => {
  const enabled = enabledProviders({ identityProviders: [provider('corp'), provider('other')] }, landscape);
  expect(enabled.map(({ type, provider: { name } }) => `${type} ${name}`)).toEqual([
    'system openmcp',
    'crate crate',
    'user corp',
    'user other',
  ]);
});

test('the one of the system can be turned off, the one of the onboarding cluster cannot', () => {
  const enabled = enabledProviders({ enableSystemIdentityProvider: false }, landscape);
  expect(enabled.map(({ type }) => type)).toEqual(['crate']);
});

test.each([
  ['that of the system', [provider('openmcp')]],
  ['that of the onboarding cluster', [provider('crate')]],
  ['another of the customer', [provider('corp'), provider('corp')]],
])('a name twice is refused: %s', (_what, identityProviders) => {
  const name = identityProviders[0]!.name;
  expect(() => enabledProviders({ identityProviders }, landscape)).toThrow(
    expect.objectContaining({
      reason: 'ManagingOpenIDConnectResourcesProblem',
      message: `duplicate identity provider name: ${name}`,
    }),
  );
});

test('a provider becomes an OpenIDConnect in the words of the webhook authenticator', () => {
  const full = provider('corp', {
    groupsClaim: 'groups',
    caBundle: 'PEM',
    signingAlgs: ['ES256'],
    requiredClaims: { tenant: 'blue' },
    clientConfig: { clientSecret: { name: 'login', key: 'secret' } },
  });
  expect(openIDConnect({ type: 'user', provider: full })).toEqual({
    apiVersion: 'authentication.gardener.cloud/v1alpha1',
    kind: 'OpenIDConnect',
    metadata: {
      name: 'corp',
      labels: { 'openmcp.cloud/managed-by': 'Authentication', 'openmcp.cloud/idp-type': 'user' },
    },
    spec: {
      issuerURL: 'https://corp.example.com',
      clientID: 'corp-client',
      usernameClaim: 'email',
      usernamePrefix: 'corp:',
      groupsClaim: 'groups',
      groupsPrefix: 'corp:',
      caBundle: Buffer.from('PEM').toString('base64'),
      supportedSigningAlgs: ['ES256'],
      requiredClaims: { tenant: 'blue' },
    },
  });
  const short = openIDConnect({ type: 'system', provider: provider('openmcp') });
  expect(Object.keys(short['spec'] as object)).toEqual([
    'issuerURL',
    'clientID',
    'usernameClaim',
    'usernamePrefix',
    'groupsPrefix',
  ]);
});

interface Kubeconfig {
  readonly clusters: readonly { name: string; cluster: Record<string, string> }[];
  readonly users: readonly { name: string; user: { exec: { apiVersion: string; command: string; args: string[] } } }[];
  readonly contexts: readonly { name: string; context: Record<string, string> }[];
  readonly 'current-context': string;
}

function kubeconfigOf(given: IdentityProvider[], clientSecrets: Record<string, string> = {}): Kubeconfig {
  const providers = enabledProviders({ identityProviders: given }, { systemIdentityProvider: provider('openmcp') });
  const target = { client: undefined as never, server: 'https://api.example.com', certificateAuthority: 'PEM' };
  const input = {
    target,
    namespace: 'team',
    name: 'demo',
    providers,
    clientSecrets: new Map(Object.entries(clientSecrets)),
  };
  return parse(userKubeconfig(input)) as Kubeconfig;
}

const argsOf = ({ users }: Kubeconfig, name: string): string[] =>
  users.find((user) => user.name === name)!.user.exec.args;

test('the kubeconfig of users names the cluster, and a user and a context for each provider', () => {
  const kubeconfig = kubeconfigOf([provider('corp')]);
  expect(kubeconfig.clusters).toEqual([
    {
      name: 'mcp-team-demo',
      cluster: {
        server: 'https://api.example.com',
        'certificate-authority-data': Buffer.from('PEM').toString('base64'),
      },
    },
  ]);
  expect(kubeconfig.contexts).toEqual([
    { name: 'mcp-team-demo--openmcp', context: { cluster: 'mcp-team-demo', user: 'openmcp', namespace: 'default' } },
    { name: 'mcp-team-demo--corp', context: { cluster: 'mcp-team-demo', user: 'corp', namespace: 'default' } },
  ]);
  expect(kubeconfig.users[1]!.user.exec).toEqual({
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command: 'kubectl',
    args: [
      'oidc-login',
      'get-token',
      '--oidc-issuer-url=https://corp.example.com',
      '--oidc-client-id=corp-client',
      '--oidc-pkce-method=auto',
      '--grant-type=auto',
      '--oidc-extra-scope=offline_access',
      '--oidc-extra-scope=email',
      '--oidc-extra-scope=profile',
    ],
  });
});

test('its current context is that of the first provider of the customer, or that of the system', () => {
  expect(kubeconfigOf([provider('corp'), provider('other')])['current-context']).toBe('mcp-team-demo--corp');
  expect(kubeconfigOf([])['current-context']).toBe('mcp-team-demo--openmcp');
});

test('extraConfig changes and adds flags, of its own provider only', () => {
  const extraConfig = {
    'grant-type': { value: 'device-code' },
    'oidc-extra-scope': { values: ['one', 'two'] },
    'skip-open-browser': {},
  };
  const kubeconfig = kubeconfigOf([provider('corp', { clientConfig: { extraConfig } }), provider('other')]);
  expect(argsOf(kubeconfig, 'corp').slice(4)).toEqual([
    '--oidc-pkce-method=auto',
    '--grant-type=device-code',
    '--oidc-extra-scope=one',
    '--oidc-extra-scope=two',
    '--skip-open-browser',
  ]);
  expect(argsOf(kubeconfig, 'other')).toContain('--grant-type=auto');
  expect(argsOf(kubeconfig, 'other')).not.toContain('--skip-open-browser');
});

test('a client secret comes last, with its own provider only', () => {
  const kubeconfig = kubeconfigOf([provider('corp'), provider('other')], { corp: 'hush' });
  expect(argsOf(kubeconfig, 'corp').at(-1)).toBe('--oidc-client-secret=hush');
  expect(argsOf(kubeconfig, 'other').join(' ')).not.toContain('hush');
});
