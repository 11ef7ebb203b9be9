/** What a client needs to reach the cluster. */
export interface KubeconfigOptions {
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly token?: string;
  /** Names the cluster, the user and the context. Default `slipway`. */
  readonly name?: string;
}

/** A kubeconfig with one context. JSON is YAML, but people read this file, so it is written by hand. */
export function kubeconfigText(options: KubeconfigOptions): string {
  const name = options.name ?? 'slipway';
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const user = [
    options.clientCertificate && `    client-certificate-data: ${base64(options.clientCertificate)}`,
    options.clientKey && `    client-key-data: ${base64(options.clientKey)}`,
    options.token && `    token: ${JSON.stringify(options.token)}`,
  ].filter(Boolean);
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${name}`,
    '  cluster:',
    `    server: ${options.server}`,
    ...(options.certificateAuthority
      ? [`    certificate-authority-data: ${base64(options.certificateAuthority)}`]
      : []),
    'users:',
    `- name: ${name}`,
    ...(user.length > 0 ? ['  user:', ...user] : ['  user: {}']),
    'contexts:',
    `- name: ${name}`,
    '  context:',
    `    cluster: ${name}`,
    `    user: ${name}`,
    `current-context: ${name}`,
    '',
  ].join('\n');
}
