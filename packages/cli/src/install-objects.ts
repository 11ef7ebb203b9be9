import { toCustomResourceDefinition, type KubeObject } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import { rbacObjects } from './permissions.ts';

export interface InstallOptions {
  readonly version: string;
  /** Default `slipway-system`. */
  readonly namespace?: string;
  /** Default `slipway:<version>`. */
  readonly image?: string;
  /** Default 2: one leads, one stands by. */
  readonly replicas?: number;
}

export const defaultNamespace = 'slipway-system';
const name = 'slipway';
const metricsPort = 8080;
const healthPort = 8081;

/** Everything that makes Slipway run on a cluster. `slipway install` applies it, `deploy/kustomize` holds it as files, the chart renders the same. */
export function installObjects(operators: readonly OperatorDescription[], options: InstallOptions): KubeObject[] {
  const { namespace = defaultNamespace } = options;
  const labels = labelsOf(options.version);
  return [
    namespaceObject(namespace, labels),
    ...operators.flatMap((operator) => operator.kinds).map((kind) => toCustomResourceDefinition(kind)),
    ...rbacObjects(operators, { name, namespace, labels }),
    ...workloadObjects(operators, options),
  ];
}

/** The part of it that runs: Deployment, Service, PodDisruptionBudget, NetworkPolicy. */
export function workloadObjects(operators: readonly OperatorDescription[], options: InstallOptions): KubeObject[] {
  const { namespace = defaultNamespace } = options;
  const metadata = () => ({ name, namespace, labels: labelsOf(options.version) });
  return [
    deployment(operators, options, metadata()),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata(), name: `${name}-metrics` },
      spec: {
        type: 'ClusterIP',
        selector,
        ports: [{ name: 'metrics', port: metricsPort, protocol: 'TCP', targetPort: 'metrics' }],
      },
    },
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
        ingress: [
          {
            ports: [
              { port: 'metrics', protocol: 'TCP' },
              { port: 'health', protocol: 'TCP' },
            ],
          },
        ],
        egress: [
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
        ],
      },
    },
  ];
}

const selector = { 'app.kubernetes.io/instance': name, 'app.kubernetes.io/name': name };

function labelsOf(version: string): Record<string, string> {
  return { ...selector, 'app.kubernetes.io/version': version };
}

/** Only what the pods need may run in the namespace, and they need nothing special. */
function namespaceObject(namespace: string, labels: Record<string, string>): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
  };
}

function deployment(
  operators: readonly OperatorDescription[],
  options: InstallOptions,
  metadata: KubeObject['metadata'],
): KubeObject {
  const probe = (path: string) => ({ httpGet: { path, port: 'health' } });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: options.replicas ?? 2,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: labelsOf(options.version) },
        spec: {
          serviceAccountName: name,
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
              image: options.image ?? `slipway:${options.version}`,
              imagePullPolicy: 'IfNotPresent',
              args: [
                'run',
                ...operators.map((operator) => operator.name),
                '--leader-elect',
                `--health-port=${healthPort}`,
                `--metrics-port=${metricsPort}`,
              ],
              ports: [
                { name: 'metrics', containerPort: metricsPort, protocol: 'TCP' },
                { name: 'health', containerPort: healthPort, protocol: 'TCP' },
              ],
              livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, periodSeconds: 20 },
              readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
              resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '50m', memory: '128Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                readOnlyRootFilesystem: true,
              },
            },
          ],
        },
      },
    },
  };
}
