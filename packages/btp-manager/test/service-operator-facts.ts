/**
 * The SAP BTP service operator as a program: what its public source (v0.11.10, controller-runtime v0.24) reads, serves and
 * refuses. The shipped manifests are held to this table, and so is whatever stands in for the program in tests.
 */

/** Its command line, as Go's `flag` reads it: one or two dashes, `--name=value`; a flag that is not here ends it with exit code 2. */
export const flags = {
  'metrics-addr': { type: 'string', default: ':8080' },
  'health-probe-bind-address': { type: 'string', default: ':8081' },
  'enable-leader-election': { type: 'boolean', default: 'false' },
  logger_use_dev_mode: { type: 'boolean', default: 'true' },
  /** Comes with controller-runtime. */
  kubeconfig: { type: 'string', default: '' },
} as const satisfies Record<string, { type: 'string' | 'boolean'; default: string }>;

export interface VariableFact {
  readonly type: 'string' | 'boolean' | 'duration' | 'list';
  /** Absent: nothing. */
  readonly default?: string;
  /** Whose variable it is, where it is not the program's own. */
  readonly of?: 'go' | 'client-go';
}

/** Its environment. A value of another type ends it at start. */
export const variables: Readonly<Record<string, VariableFact>> = {
  CLUSTER_ID: { type: 'string' },
  /** From the Secret below. Another id than CLUSTER_ID ends it at start; none makes it write the Secret. */
  INITIAL_CLUSTER_ID: { type: 'string' },
  RELEASE_NAMESPACE: { type: 'string' },
  MANAGEMENT_NAMESPACE: { type: 'string' },
  ALLOW_CLUSTER_ACCESS: { type: 'boolean', default: 'true' },
  ALLOWED_NAMESPACES: { type: 'list', default: '' },
  ENABLE_NAMESPACE_SECRETS: { type: 'boolean', default: 'true' },
  ENABLE_LIMITED_CACHE: { type: 'boolean', default: 'false' },
  SYNC_PERIOD: { type: 'duration', default: '60s' },
  POLL_INTERVAL: { type: 'duration', default: '10s' },
  LONG_POLL_INTERVAL: { type: 'duration', default: '5m' },
  RETRY_BASE_DELAY: { type: 'duration', default: '10s' },
  RETRY_MAX_DELAY: { type: 'duration', default: '3h' },
  /** Sent to the Service Manager as `client-version`. */
  APP_VERSION: { type: 'string' },
  /** Exactly `false` turns the webhooks off. */
  ENABLE_WEBHOOKS: { type: 'string' },
  GODEBUG: { type: 'string', of: 'go' },
  /** The certificate is looked for below it. */
  TMPDIR: { type: 'string', default: '/tmp', of: 'go' },
  KUBECONFIG: { type: 'string', of: 'client-go' },
  KUBERNETES_SERVICE_HOST: { type: 'string', of: 'client-go' },
  KUBERNETES_SERVICE_PORT: { type: 'string', of: 'client-go' },
};

export const ports = { webhooks: 9443, metrics: 8080, probes: 8081 } as const;

export const probes = { live: '/healthz', ready: '/readyz' } as const;

export const files = {
  executable: '/manager',
  /** Below TMPDIR; has to hold `tls.crt` and `tls.key`, which are read again when they change. */
  certificates: 'k8s-webhook-server/serving-certs',
  /** Optional. One that is there and holds no certificate makes every call of the Service Manager fail. */
  customCa: '/etc/ssl/certs/custom-ca-certificates.crt',
  serviceAccount: '/var/run/secrets/kubernetes.io/serviceaccount',
} as const;

/** Paths its webhooks are served under. */
export const webhookPaths = [
  '/mutate-services-cloud-sap-com-v1-servicebinding',
  '/mutate-services-cloud-sap-com-v1-serviceinstance',
  '/validate-services-cloud-sap-com-v1-servicebinding',
  '/validate-services-cloud-sap-com-v1-serviceinstance',
] as const;

/** Held while it works, with `--enable-leader-election`. */
export const lease = 'aa689ecc.cloud.sap.com';

export const finalizer = 'services.cloud.sap.com/sap-btp-finalizer';

/** With ENABLE_LIMITED_CACHE it sees Secrets and ConfigMaps with this label, the value `true`, through its cache. */
export const managedLabel = 'services.cloud.sap.com/managed-by-sap-btp-operator';

/** Written at the first start into RELEASE_NAMESPACE; the Deployment gives it back as environment. */
export const clusterIdSecret = { name: 'sap-btp-operator-clusterid', key: 'INITIAL_CLUSTER_ID' } as const;

/** Looked for in the namespace of the instance, then as `<namespace>-<name>` in MANAGEMENT_NAMESPACE, then in RELEASE_NAMESPACE. */
export const credentialsSecret = {
  name: 'sap-btp-service-operator',
  required: ['clientid', 'sm_url', 'tokenurl'],
  /** Without a client secret it needs the pair. */
  optional: ['clientsecret', 'tls.crt', 'tls.key', 'tokenurlsuffix'],
} as const;

/** Where it calls the Service Manager, below `sm_url`. The token comes from `tokenurl` + `tokenurlsuffix`. */
export const serviceManagerPaths = [
  '/v1/service_instances',
  '/v1/service_bindings',
  '/v1/service_offerings',
  '/v1/service_plans',
] as const;

const everything = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** What it does on the cluster. */
export const permissions = [
  { apiGroups: [''], resources: ['secrets', 'events'], verbs: everything },
  /** Its recorders write events of the new group. */
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'list', 'update'] },
  { apiGroups: ['services.cloud.sap.com'], resources: ['serviceinstances', 'servicebindings'], verbs: everything },
  {
    apiGroups: ['services.cloud.sap.com'],
    resources: ['serviceinstances/status', 'servicebindings/status'],
    verbs: ['get', 'patch', 'update'],
  },
] as const;
