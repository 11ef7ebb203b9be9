/** What the module resources of the original manager (chart v0.11.10) say, for a comparison with the ones shipped here. */

export const chartVersion = 'v0.11.10';

/** Every object it installs. */
export const objects = [
  'ConfigMap sap-btp-operator-config',
  'CustomResourceDefinition servicebindings.services.cloud.sap.com',
  'CustomResourceDefinition serviceinstances.services.cloud.sap.com',
  'Deployment sap-btp-operator-controller-manager',
  'ClusterRole sap-btp-operator-manager-role',
  'ClusterRoleBinding sap-btp-operator-manager-rolebinding',
  'Role sap-btp-operator-leader-election-role',
  'RoleBinding sap-btp-operator-leader-election-rolebinding',
  'Secret sap-btp-service-operator',
  'Service sap-btp-operator-webhook-service',
  'Service sap-btp-operator-controller-manager-metrics-service',
  'ServiceAccount sap-btp-operator',
  'MutatingWebhookConfiguration sap-btp-operator-mutating-webhook-configuration',
  'ValidatingWebhookConfiguration sap-btp-operator-validating-webhook-configuration',
] as const;

export const networkPolicies = [
  'kyma-project.io--allow-btp-operator-metrics',
  'kyma-project.io--allow-btp-operator-webhook',
  'kyma-project.io--btp-operator-allow-to-apiserver',
  'kyma-project.io--btp-operator-to-dns',
] as const;

/** Comes with the original's own installation, not with the module; the pods of the module name it. */
export const priorityClass = { name: 'btp-manager-kyma-priority', value: 2_100_000 } as const;

const selector = {
  'app.kubernetes.io/instance': 'sap-btp-operator',
  'app.kubernetes.io/name': 'sap-btp-operator',
  'control-plane': 'controller-manager',
};

export const services = {
  'sap-btp-operator-webhook-service': { selector, ports: [[443, 'webhook-server']] },
  'sap-btp-operator-controller-manager-metrics-service': { selector, ports: [[8080, 'metrics']] },
} as const;

/** The Deployment: container, pod and template, where they say something of their own. */
export const deployment = {
  replicas: 1,
  selector,
  annotations: { 'sidecar.istio.io/inject': 'false' },
  labels: { ...selector, 'sidecar.istio.io/inject': 'false' },
  container: {
    command: ['/manager'],
    env: { APP_VERSION: 'v0.11.10', GODEBUG: 'fips140=only,tlsmlkem=0' },
    envFrom: [
      { configMapRef: { name: 'sap-btp-operator-config' } },
      { secretRef: { name: 'sap-btp-operator-clusterid', optional: true } },
    ],
    imagePullPolicy: 'IfNotPresent',
    ports: { 'webhook-server': 9443, metrics: 8080 },
    livenessProbe: { httpGet: { path: '/healthz', port: 8081 }, initialDelaySeconds: 15, periodSeconds: 20 },
    readinessProbe: { httpGet: { path: '/readyz', port: 8081 }, initialDelaySeconds: 5, periodSeconds: 10 },
    resources: { limits: { cpu: '1', memory: '500Mi' }, requests: { cpu: '10m', memory: '20Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
    },
  },
  pod: {
    serviceAccountName: 'sap-btp-operator',
    priorityClassName: priorityClass.name,
    terminationGracePeriodSeconds: 10,
    securityContext: {
      runAsGroup: 30_001,
      runAsNonRoot: true,
      runAsUser: 10_001,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  },
  certificate: { secretName: 'webhook-server-cert', mountPath: '/tmp/k8s-webhook-server/serving-certs' },
} as const;

const webhook = (verb: 'mutate' | 'validate', resource: string, operations: readonly string[]) => ({
  path: `/${verb}-services-cloud-sap-com-v1-${resource}`,
  resources: [`${resource}s`],
  operations,
});

/** All with failure policy `Fail`, no side effects, for version `v1`, review versions `v1` and `v1beta1`. */
export const webhooks = {
  'mservicebinding.kb.io': webhook('mutate', 'servicebinding', ['CREATE', 'UPDATE']),
  'mserviceinstance.kb.io': webhook('mutate', 'serviceinstance', ['CREATE', 'UPDATE']),
  'vservicebinding.kb.io': webhook('validate', 'servicebinding', ['CREATE', 'UPDATE']),
  'vserviceinstance.kb.io': webhook('validate', 'serviceinstance', ['CREATE', 'DELETE', 'UPDATE']),
} as const;

type Column = readonly [name: string, type: string, path: string, priority: 0 | 1];

const lastColumns = (id: string): readonly Column[] => [
  ['Status', 'string', '.status.conditions[0].reason', 0],
  ['Ready', 'string', '.status.ready', 0],
  ['Age', 'date', '.metadata.creationTimestamp', 0],
  ['ID', 'string', `.status.${id}`, 1],
  ['Message', 'string', '.status.conditions[0].message', 1],
];

const bindingColumns: readonly Column[] = [
  ['Instance', 'string', '.spec.serviceInstanceName', 0],
  ...lastColumns('bindingID'),
];
const planColumns: readonly Column[] = [
  ['Offering', 'string', '.spec.serviceOfferingName', 0],
  ['Plan', 'string', '.spec.servicePlanName', 0],
];

/** Fields both kinds have in both versions, as `shapeOf` writes them. */
const common = {
  apiVersion: 'string',
  kind: 'string',
  metadata: 'object',
  spec: 'object',
  'spec.parameters': 'object open',
  'spec.parametersFrom': 'array',
  'spec.parametersFrom[]': 'object',
  'spec.parametersFrom[].secretKeyRef': 'object',
  'spec.parametersFrom[].secretKeyRef.key': 'string, required',
  'spec.parametersFrom[].secretKeyRef.name': 'string, required',
  'spec.userInfo': 'object',
  'spec.userInfo.extra': 'object',
  'spec.userInfo.extra.*': 'array',
  'spec.userInfo.extra.*[]': 'string',
  'spec.userInfo.groups': 'array atomic',
  'spec.userInfo.groups[]': 'string',
  'spec.userInfo.uid': 'string',
  'spec.userInfo.username': 'string',
  status: 'object',
  'status.conditions': 'array, required',
  'status.conditions[]': 'object',
  'status.conditions[].lastTransitionTime': 'string date-time, required',
  'status.conditions[].message': 'string ≤32768, required',
  'status.conditions[].observedGeneration': 'integer int64 from 0',
  'status.conditions[].reason': 'string ≥1 ≤1024 like ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$, required',
  'status.conditions[].status': 'string True|False|Unknown, required',
  'status.conditions[].type':
    'string ≤316 like ^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$, required',
  'status.instanceID': 'string',
  'status.observedGeneration': 'integer int64',
  'status.operationType': 'string',
  'status.operationURL': 'string',
  'status.ready': 'string',
};
const commonSinceV1 = {
  ...common,
  'spec.parametersFrom[].secretKeyRef': 'object, required',
  'status.subaccountID': 'string',
};
const binding = {
  'spec.credentialsRotationPolicy': 'object',
  'spec.credentialsRotationPolicy.enabled': 'boolean, required',
  'spec.credentialsRotationPolicy.rotatedBindingTTL': 'string',
  'spec.credentialsRotationPolicy.rotationFrequency': 'string',
  'spec.externalName': 'string ≤100',
  'spec.secretKey': 'string',
  'spec.secretName': 'string',
  'spec.secretRootKey': 'string',
  'spec.serviceInstanceName': 'string ≥1, required',
  'status.bindingID': 'string',
  'status.lastCredentialsRotationTime': 'string date-time',
};
const instance = {
  'spec.customTags': 'array',
  'spec.customTags[]': 'string',
  'spec.externalName': 'string',
  'spec.serviceOfferingName': 'string ≥1, required',
  'spec.servicePlanID': 'string',
  'spec.servicePlanName': 'string ≥1, required',
  'spec.shared': 'boolean',
  'status.tags': 'array',
  'status.tags[]': 'string',
};

export interface VersionFact {
  readonly stored: boolean;
  readonly columns: readonly Column[];
  readonly fields: Readonly<Record<string, string>>;
}

/** The two kinds it defines, by name and version. Every version is served and has a status subresource. */
export const definitions: Readonly<Record<string, Readonly<Record<string, VersionFact>>>> = {
  'servicebindings.services.cloud.sap.com': {
    v1: {
      stored: true,
      columns: bindingColumns,
      fields: {
        ...commonSinceV1,
        ...binding,
        'spec.secretTemplate': 'string open',
        'spec.serviceInstanceNamespace': 'string',
        'status.asyncBindFailed': 'boolean',
      },
    },
    v1alpha1: { stored: false, columns: bindingColumns, fields: { ...common, ...binding } },
  },
  'serviceinstances.services.cloud.sap.com': {
    v1: {
      stored: true,
      columns: [
        ...planColumns,
        ['shared', 'boolean', '.spec.shared', 0],
        ['dataCenter', 'string', '.spec.dataCenter', 0],
        ...lastColumns('instanceID'),
      ],
      fields: {
        ...commonSinceV1,
        ...instance,
        'spec.btpAccessCredentialsSecret': 'string',
        'spec.dataCenter': 'string',
        'spec.watchParametersFromChanges': 'boolean',
        'status.forceReconcile': 'boolean',
        'status.hashedSpec': 'string',
      },
    },
    v1alpha1: {
      stored: false,
      columns: [...planColumns, ...lastColumns('instanceID')],
      fields: { ...common, ...instance },
    },
  },
};
