import { createHash } from 'node:crypto';
import { toCustomResourceDefinition, yamlText, type KubeObject } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import type { OutsideOperator } from './outside-operator.ts';
import { rbacObjects } from './permissions.ts';

export interface InstallOptions {
  readonly version: string;
  /** Default `slipway-system`. */
  readonly namespace?: string;
  /** Default `slipway:<version>`, for an operator of another package its own name and version. */
  readonly image?: string;
  /** The package of an operator that did not come with the command. Default: all did. */
  readonly packageOf?: (operator: OperatorDescription) => OutsideOperator | undefined;
  /** Pods of each operator. Default {@link defaultReplicas}. */
  readonly replicas?: number;
  /** What the pods of an operator are told. Default: nothing. */
  readonly settingsOf?: (operator: OperatorDescription) => PodSettings;
  /** A ConfigMap somebody else makes, whose `config.yaml` all pods read. Default: one is made where there are settings. */
  readonly configMap?: string;
}

/** What the pods of an operator are told, and what an earlier installation has said about them. */
export interface PodSettings {
  /** Flags of `slipway run` and of the operator, by name; they reach the pods as a file. */
  readonly config: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Where nothing is said now. Default: as nobody had said anything. */
  readonly image?: string;
  readonly replicas?: number;
  /** What `image` is of. */
  readonly version?: string;
}

export const defaultNamespace = 'slipway-system';
/** The label that says which operator an object of the installation is for. */
export const componentLabel = 'app.kubernetes.io/component';
export const settingsFile = 'config.yaml';
/** Pods of each operator when nobody says how many: one leads, one stands by. */
export const defaultReplicas = 2;

const name = 'slipway';
const metricsPort = 8080;
const healthPort = 8081;
const webhookPort = 9443;
const settingsFolder = '/etc/slipway';
const noSettings: PodSettings = { config: {}, env: {} };

/** What the objects of an operator are called. */
export function workloadName(operator: Pick<OperatorDescription, 'name'>): string {
  return `${name}-${operator.name}`;
}

/**
 * Everything that makes Slipway run on a cluster: a namespace, and for each operator its definitions, an account with its
 * permissions alone, and the pods that use it. `slipway install` applies it, `deploy/kustomize` holds it as files, the chart
 * renders the same.
 */
export function installObjects(operators: readonly OperatorDescription[], options: InstallOptions): KubeObject[] {
  const { namespace = defaultNamespace, version, settingsOf = () => noSettings } = options;
  return [
    namespaceObject(namespace, { ...commonLabels, [versionLabel]: version }),
    ...operators.flatMap((operator) => operator.kinds).map((kind) => toCustomResourceDefinition(kind)),
    ...operators.flatMap((operator) => operator.policies ?? []),
    ...rbacObjects(operators, {
      name,
      namespace,
      labelsOf: (operator) => labelsOf(operator, options),
      configOf: (operator) => settingsOf(operator).config,
      asksForToken: (operator) => settingsOf(operator).config['metrics-require-token'] === 'true',
    }),
    ...operators.flatMap((operator) => workloadObjects(operator, options)),
  ];
}

/** The part of it that runs. */
function workloadObjects(operator: OperatorDescription, options: InstallOptions): KubeObject[] {
  const { namespace = defaultNamespace, settingsOf = () => noSettings } = options;
  const called = workloadName(operator);
  const selector = selectorOf(operator);
  const metadata = (suffix = '') => ({
    name: `${called}${suffix}`,
    namespace,
    labels: labelsOf(operator, options),
  });
  const settings = settingsOf(operator);
  const ownConfig = options.configMap === undefined && Object.keys(settings.config).length > 0;
  const configText = yamlText(settings.config);
  const service = (suffix: string, port: number, target: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(suffix),
    spec: { type: 'ClusterIP', selector, ports: [{ name: target, port, protocol: 'TCP', targetPort: target }] },
  });
  return [
    ...(ownConfig
      ? [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('-config'), data: { [settingsFile]: configText } }]
      : []),
    deployment(operator, options, {
      metadata: metadata(),
      settings,
      configMap: options.configMap ?? (ownConfig ? `${called}-config` : undefined),
      ...(ownConfig ? { digest: createHash('sha256').update(configText).digest('hex') } : {}),
    }),
    service('-metrics', metricsPort, 'metrics'),
    ...(servesWebhooks(operator) ? [service('-webhook', 443, 'webhooks')] : []),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: metadata(),
      spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: metadata(),
      spec: {
        podSelector: { matchLabels: selector },
        policyTypes: ['Ingress', 'Egress'],
        ingress: ingress(operator),
        egress,
      },
    },
  ];
}

/** Whether its pods answer the API server. */
export function servesWebhooks(operator: OperatorDescription): boolean {
  return (operator.webhooks ?? []).length > 0;
}

export const versionLabel = 'app.kubernetes.io/version';
const commonLabels = { 'app.kubernetes.io/instance': name, 'app.kubernetes.io/name': name };

function selectorOf(operator: OperatorDescription): Record<string, string> {
  return { [componentLabel]: operator.name, ...commonLabels };
}

/** The version is that of what runs: an image that is kept is of the version it was installed with. */
function labelsOf(operator: OperatorDescription, options: InstallOptions): Record<string, string> {
  const kept = options.image === undefined ? options.settingsOf?.(operator).version : undefined;
  const version = kept ?? ownVersion(options.packageOf?.(operator), options.version);
  return { ...selectorOf(operator), [versionLabel]: version };
}

/** The version an operator comes in, as a label can say it: that of its package, or of the command that brings it. */
export function ownVersion(outside: Pick<OutsideOperator, 'version'> | undefined, version: string): string {
  return (outside?.version ?? version).replaceAll('+', '_');
}

/** Only what the pods need may run in the namespace, and they need nothing special. */
function namespaceObject(namespace: string, labels: Record<string, string>): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
  };
}

/** Who reads metrics is named. Probes come from the pod's own node, which no policy keeps out; the API server has no label to name it by. */
function ingress(operator: OperatorDescription): object[] {
  return [
    {
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      ports: [{ port: 'metrics', protocol: 'TCP' }],
    },
    ...(servesWebhooks(operator) ? [{ ports: [{ port: 'webhooks', protocol: 'TCP' }] }] : []),
  ];
}

const egress = [
  {
    ports: [
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
    ],
  },
  {
    ports: [
      { port: 443, protocol: 'TCP' },
      { port: 6443, protocol: 'TCP' },
    ],
  },
];

/** The image of an operator of another package has its package as the working directory. */
const imageHoldsIt = '--operator=.';

/** What the image of an operator is called by default, as `docker build -t` of its package would name it: a scope is a folder there. */
export function imageName(outside: Pick<OutsideOperator, 'packageName'> | undefined): string {
  return outside?.packageName.replace(/^@/, '') ?? name;
}

export function outsideImage(outside: Pick<OutsideOperator, 'packageName' | 'version'>): string {
  return `${imageName(outside)}:${outside.version}`;
}

interface PodOptions {
  readonly metadata: KubeObject['metadata'];
  readonly settings: PodSettings;
  /** Mounted as the settings file. */
  readonly configMap: string | undefined;
  /** Of its content: other settings make other pods. */
  readonly digest?: string;
}

function deployment(
  operator: OperatorDescription,
  options: InstallOptions,
  { metadata, settings, configMap, digest }: PodOptions,
): KubeObject {
  const { env } = settings;
  const selector = selectorOf(operator);
  const probe = (path: string) => ({ httpGet: { path, port: 'health' } });
  const called = workloadName(operator);
  const outside = options.packageOf?.(operator);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: options.replicas ?? settings.replicas ?? defaultReplicas,
      selector: { matchLabels: selector },
      template: {
        metadata: {
          labels: labelsOf(operator, options),
          ...(digest === undefined ? {} : { annotations: { 'checksum/config': digest } }),
        },
        spec: {
          serviceAccountName: called,
          // Reconciliations get 30 seconds to end, then the process goes.
          terminationGracePeriodSeconds: 40,
          securityContext: {
            fsGroup: 65532,
            runAsGroup: 65532,
            runAsNonRoot: true,
            runAsUser: 65532,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          topologySpreadConstraints: [
            {
              labelSelector: { matchLabels: selector },
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
            },
          ],
          containers: [
            {
              name: 'manager',
              image:
                options.image ?? settings.image ?? (outside ? outsideImage(outside) : `${name}:${options.version}`),
              imagePullPolicy: 'IfNotPresent',
              args: [
                'run',
                operator.name,
                ...(outside ? [imageHoldsIt] : []),
                '--leader-elect',
                `--health-port=${healthPort}`,
                `--metrics-port=${metricsPort}`,
                ...(servesWebhooks(operator) ? [`--webhook-service=${called}-webhook`] : []),
                ...(configMap === undefined ? [] : [`--config=${settingsFolder}/${settingsFile}`]),
              ],
              ...(Object.keys(env).length === 0
                ? {}
                : { env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })) }),
              ports: [
                { name: 'metrics', containerPort: metricsPort, protocol: 'TCP' },
                { name: 'health', containerPort: healthPort, protocol: 'TCP' },
                ...(servesWebhooks(operator)
                  ? [{ name: 'webhooks', containerPort: webhookPort, protocol: 'TCP' }]
                  : []),
              ],
              livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, periodSeconds: 20 },
              readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
              resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '50m', memory: '128Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                readOnlyRootFilesystem: true,
              },
              ...(configMap === undefined
                ? {}
                : { volumeMounts: [{ name: 'config', mountPath: settingsFolder, readOnly: true }] }),
            },
          ],
          ...(configMap === undefined ? {} : { volumes: [{ name: 'config', configMap: { name: configMap } }] }),
        },
      },
    },
  };
}
