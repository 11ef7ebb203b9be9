export interface KubeconfigUser {
  /** PEM */
  certificate: string;
  /** PEM */
  key: string;
}

/** A kubeconfig with one cluster and one user, everything inline. */
export function renderKubeconfig(server: string, ca: string, user: KubeconfigUser): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return `apiVersion: v1
kind: Config
current-context: reference
clusters:
- name: reference
  cluster:
    server: ${server}
    certificate-authority-data: ${base64(ca)}
contexts:
- name: reference
  context:
    cluster: reference
    user: reference-admin
users:
- name: reference-admin
  user:
    client-certificate-data: ${base64(user.certificate)}
    client-key-data: ${base64(user.key)}
`;
}
