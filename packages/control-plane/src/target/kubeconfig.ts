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
export function tokenKubeconfig({ token, ...rest }: TokenKubeconfig): string {
  return kubeconfig(rest, { token });
}

export interface CertificateKubeconfig extends Omit<TokenKubeconfig, 'token'> {
  /** PEM. */
  readonly certificate: string;
  /** PEM. */
  readonly privateKey: string;
}

/** A kubeconfig with one context and a client certificate. */
export function certificateKubeconfig({ certificate, privateKey, ...rest }: CertificateKubeconfig): string {
  return kubeconfig(rest, {
    'client-certificate-data': Buffer.from(certificate).toString('base64'),
    'client-key-data': Buffer.from(privateKey).toString('base64'),
  });
}

function kubeconfig(
  { server, certificateAuthority, user }: Omit<TokenKubeconfig, 'token'>,
  credentials: Readonly<Record<string, string>>,
): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: clusterEntry(server, certificateAuthority) }],
    users: [{ name: user, user: credentials }],
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
