/** What the operator keeps on the cluster, under the names others read it by. */
export const names = {
  fieldManager: 'apl-operator',
  /** In a namespace that is always there: the operator's own may be missing until it writes its first record. */
  lease: { namespace: 'kube-system', name: 'apl-operator', always: true },
  operatorNamespace: 'apl-operator',
  platformNamespace: 'otomi',
  adminNamespace: 'keycloak',
  argoNamespace: 'argocd',
  installationStatus: 'apl-installation-status',
  operatorState: 'apl-operator-state',
  welcome: 'welcome',
  deploymentStatus: 'deployment-status',
  gitCredentials: 'gitea-credentials',
  adminCredentials: 'platform-admin-credentials',
  passwords: 'deployment-passwords',
  sopsSecrets: 'apl-sops-secrets',
} as const;
