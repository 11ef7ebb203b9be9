/** Names that users, the broker and the service operator rely on, in one place. */
export const names = {
  group: 'operator.kyma-project.io',
  /** The one BtpOperator that counts, unless the oldest one does. */
  primary: { namespace: 'kyma-system', name: 'btpoperator' },
  finalizer: 'operator.kyma-project.io/btp-manager',
  fieldManager: 'btp-manager',
  /** On a BtpOperator, with the value `true`: delete service instances and bindings too. */
  forceDeleteLabel: 'force-delete',
  /** On a BtpOperator, with the value `true` in any case: no network policies. */
  disableNetworkPoliciesAnnotation: 'operator.kyma-project.io/btp-operator-disable-network-policies',
  /** On a BtpOperator, with the value `true` in any case: a CA that was replaced is not trusted for another hour. */
  distrustPreviousCaAnnotation: 'operator.kyma-project.io/distrust-previous-ca',
  managedByLabel: 'app.kubernetes.io/managed-by',
  managedByUs: 'btp-manager',
  managedByBroker: 'kcp-kyma-environment-broker',
  chartVersionLabel: 'chart-version',
  moduleLabel: 'kyma-project.io/module',
  module: 'btp-operator',
  /** On the required Secret: where the credentials were before, and under which cluster id. */
  previousNamespaceAnnotation: 'operator.kyma-project.io/previous-credentials-namespace',
  previousClusterIdAnnotation: 'operator.kyma-project.io/previous-cluster-id',
  /** On the operator's pods: changes with its configuration, so that they are replaced. */
  configurationHashAnnotation: 'operator.kyma-project.io/btp-operator-config-hash',
  operatorConfigMap: 'sap-btp-operator-config',
  credentialsSecret: 'sap-btp-service-operator',
  clusterIdSecret: 'sap-btp-operator-clusterid',
  caSecret: 'ca-server-cert',
  webhookSecret: 'webhook-server-cert',
  mutatingWebhooks: 'sap-btp-operator-mutating-webhook-configuration',
  validatingWebhooks: 'sap-btp-operator-validating-webhook-configuration',
  webhookService: 'sap-btp-operator-webhook-service',
  priorityClass: 'btp-manager-kyma-priority',
  operatorContainer: 'manager',
  proxyContainer: 'kube-rbac-proxy',
  operatorPods: { 'app.kubernetes.io/instance': 'sap-btp-operator' },
  legacyNetworkPolicy: 'kyma-project.io--btp-operator-allow-to-webhook',
  /** The original's: whoever holds it acts, the other one waits. */
  lease: { namespace: 'kyma-system', name: 'ec023d38.kyma-project.io' },
} as const;

/** Selects what the manager looks at among Secrets, ConfigMaps and webhook configurations. */
export const visibleSelector = `${names.managedByLabel} in (${names.managedByUs},${names.managedByBroker})`;

/** Selects what the manager made. */
export const ownSelector = `${names.managedByLabel}=${names.managedByUs}`;
