import { stringify } from 'yaml';

export interface TokenKubeconfig {
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority?: string;
  readonly token: string;
  /** Name of the user in it. */
  readonly user: string;
}

/** A kubeconfig with one context and a bearer token. */
export function tokenKubeconfig({ server, certificateAuthority, token, user }: TokenKubeconfig): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: clusterEntry(server, certificateAuthority) }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'cluster', context: { cluster: 'cluster', user } }],
    'current-context': 'cluster',
  });
}

/** The cluster entry of a kubeconfig. */
export function clusterEntry(server: string, certificateAuthority: string | undefined): Record<string, string> {
  return {
    server,
    ...(certificateAuthority
      ? { 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') }
      : {}),
  };
}
