/** Objects of the usual sizes and shapes, as the server writes them: sorted keys for custom resources, Go order for Pods. */

export interface BenchObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

function managedFields(paths: number): unknown[] {
  const fields: Record<string, unknown> = {};
  for (let i = 0; i < paths; i += 1) fields[`f:field${i}`] = { 'f:name': {}, 'f:value': {}, '.': {} };
  return [
    {
      apiVersion: 'example.com/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': fields },
      manager: 'kubectl',
      operation: 'Apply',
      time: '2026-01-01T00:00:00Z',
    },
    {
      apiVersion: 'example.com/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:status': { '.': {}, 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {} } } } },
      manager: 'controller',
      operation: 'Update',
      subresource: 'status',
      time: '2026-01-01T00:00:00Z',
    },
  ];
}

export function customResourceEvent(index: number): unknown {
  return { type: 'MODIFIED', object: customResource(index) };
}

export function customResource(index: number): BenchObject {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Website',
    metadata: {
      annotations: { 'example.com/owner': 'team-a', 'example.com/name': `not-the-name-${index}` },
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['example.com/cleanup'],
      generation: 3,
      labels: { app: `site-${index}`, name: 'a-label-called-name', tier: 'web' },
      managedFields: managedFields(16),
      name: `site-${index}`,
      namespace: `namespace-${index % 50}`,
      resourceVersion: String(1_000_000 + index),
      uid: `6f1c2b34-0000-4000-8000-${String(index).padStart(12, '0')}`,
    },
    spec: {
      env: Array.from({ length: 12 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value number ${i} of ${index}` })),
      image: 'registry.example.com/team/site:1.2.3',
      replicas: 3,
      routes: Array.from({ length: 6 }, (_, i) => ({ host: `site-${index}-${i}.example.com`, path: '/' })),
    },
    status: {
      conditions: ['Ready', 'Progressing', 'Healthy'].map((type) => ({
        lastTransitionTime: '2026-01-01T00:00:00Z',
        message: 'everything is as it should be',
        observedGeneration: 3,
        reason: 'AsExpected',
        status: 'True',
        type,
      })),
      observedGeneration: 3,
      url: `https://site-${index}.example.com`,
    },
  };
}

export function podEvent(index: number): unknown {
  return { type: 'MODIFIED', object: pod(index) };
}

export function pod(index: number): BenchObject {
  const container = (name: string) => ({
    name,
    image: `registry.example.com/team/${name}:1.2.3`,
    command: ['/bin/sh', '-c', 'exec /app/server --listen :8080 --log-level info'],
    env: Array.from({ length: 10 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value number ${i}` })),
    resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 },
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  });
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: `web-${index}`,
      generateName: 'web-',
      namespace: `namespace-${index % 50}`,
      uid: `6f1c2b34-0000-4000-8000-${String(index).padStart(12, '0')}`,
      resourceVersion: String(1_000_000 + index),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'web', 'pod-template-hash': '5d4f8c7b9', name: 'a-label-called-name' },
      annotations: { 'example.com/checksum': 'b5bb9d8014a0f9b1d61e21e796d78dcc' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u', controller: true }],
      managedFields: managedFields(66),
    },
    spec: {
      containers: [container('web'), container('proxy')],
      volumes: [{ name: 'data', emptyDir: {} }],
      nodeName: `node-${index % 100}`,
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
    },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      })),
      containerStatuses: ['web', 'proxy'].map((name) => ({
        name,
        ready: true,
        restartCount: 0,
        image: `registry.example.com/team/${name}:1.2.3`,
        imageID: `registry.example.com/team/${name}@sha256:${'0'.repeat(64)}`,
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
      })),
      podIP: '10.0.0.1',
      hostIP: '10.1.0.1',
    },
  };
}
