import {
  applyPatch,
  asTable,
  core,
  del,
  differentialCase as test,
  get,
  grouped,
  mergePatch,
  patch,
  post,
  put,
} from '../case.ts';

const services = core('services');
const secrets = core('secrets');
const leases = grouped('coordination.k8s.io/v1', 'leases');
const serviceOf = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
const secretOf = (name: string, rest: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...rest });
const leaseOf = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, ...metadata },
  spec,
});

/** Kinds with rules of their own. */
export const kinds = [
  test(
    'Service types',
    post('ClusterIP', services, serviceOf('a', { selector: { app: 'a' }, ports: [{ port: 80 }] })),
    post(
      'headless',
      services,
      serviceOf('b', { clusterIP: 'None', ports: [{ name: 'x', port: 80, targetPort: 'http' }] }),
    ),
    post('NodePort', services, serviceOf('c', { type: 'NodePort', ports: [{ port: 80 }] })),
    post('LoadBalancer', services, serviceOf('d', { type: 'LoadBalancer', ports: [{ port: 80 }] })),
    post('ExternalName', services, serviceOf('e', { type: 'ExternalName', externalName: 'x.example.com' })),
    get('table', services, { headers: { accept: asTable } }),
    del('answers with the object', `${services}/e`),
    get('endpoints of none', core('endpoints/a')),
  ),
  test(
    'Service changes and errors',
    post('create', services, serviceOf('a', { ports: [{ port: 80 }] })),
    patch('address is immutable', `${services}/a`, mergePatch, {
      spec: { clusterIP: '10.96.99.99', clusterIPs: ['10.96.99.99'] },
    }),
    put('PUT keeps the address', `${services}/a`, serviceOf('a', { ports: [{ port: 80, targetPort: 8080 }] })),
    patch('to NodePort', `${services}/a`, mergePatch, { spec: { type: 'NodePort' } }),
    patch('back', `${services}/a`, mergePatch, { spec: { type: 'ClusterIP' } }),
    patch('to ExternalName', `${services}/a`, mergePatch, { spec: { type: 'ExternalName', externalName: 'x.y' } }),
    post('no ports', services, serviceOf('x', {})),
    post('two unnamed ports', services, serviceOf('x', { ports: [{ port: 80 }, { port: 81 }] })),
    post(
      'the same port twice',
      services,
      serviceOf('x', {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 80 },
        ],
      }),
    ),
    post('bad name', services, serviceOf('1x', { ports: [{ port: 80 }] })),
    post('bad port', services, serviceOf('x', { ports: [{ port: 0 }] })),
    post('bad type', services, serviceOf('x', { type: 'Magic', ports: [{ port: 80 }] })),
    post('address taken', services, serviceOf('x', { clusterIP: '10.96.0.1', ports: [{ port: 80 }] })),
    post('address out of range', services, serviceOf('x', { clusterIP: '1.2.3.4', ports: [{ port: 80 }] })),
    post('bad protocol', services, serviceOf('x', { ports: [{ port: 80, protocol: 'XYZ' }] })),
  ),
  test(
    'Secrets',
    post('stringData wins', secrets, secretOf('a', { data: { x: 'MQ==' }, stringData: { x: 'over', y: 'two' } })),
    patch('stringData by merge', `${secrets}/a`, mergePatch, { stringData: { z: 'three' } }),
    patch('type is immutable', `${secrets}/a`, mergePatch, { type: 'kubernetes.io/tls' }),
    post('bad base64', secrets, secretOf('x', { data: { a: '!!!' } })),
    post('bad key', secrets, secretOf('x', { stringData: { 'a b': 'x' } })),
    post('tls without keys', secrets, secretOf('x', { type: 'kubernetes.io/tls', data: {} })),
    post(
      'docker config',
      secrets,
      secretOf('x', {
        type: 'kubernetes.io/dockerconfigjson',
        stringData: { '.dockerconfigjson': 'nope' },
      }),
    ),
    post('token without account', secrets, secretOf('x', { type: 'kubernetes.io/service-account-token' })),
    post('basic auth without anything', secrets, secretOf('x', { type: 'kubernetes.io/basic-auth' })),
    patch('apply stringData', `${secrets}/s?fieldManager=app`, applyPatch, secretOf('s', { stringData: { a: '1' } })),
    patch('make it immutable', `${secrets}/s`, mergePatch, { immutable: true }),
    patch('change it', `${secrets}/s`, mergePatch, { data: { a: 'Mg==' } }),
    get('table', secrets, { headers: { accept: asTable } }),
  ),
  test(
    'ServiceAccount and token',
    post('create', core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }),
    post('token', core('serviceaccounts/robot/token'), {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 600 },
    }),
    post('default duration', core('serviceaccounts/robot/token'), {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    }),
    post('too short', core('serviceaccounts/robot/token'), { spec: { expirationSeconds: 5 } }),
    post('of nobody', core('serviceaccounts/nobody/token'), { spec: {} }),
    get('table', core('serviceaccounts'), { headers: { accept: asTable } }),
  ),
  test(
    'claims and volumes',
    post('claim', core('persistentvolumeclaims'), {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
    patch('spec is immutable', core('persistentvolumeclaims/c'), mergePatch, {
      spec: { accessModes: ['ReadOnlyMany'] },
    }),
    del('waits for its finalizer', core('persistentvolumeclaims/c')),
    post('claim of nothing', core('persistentvolumeclaims'), { metadata: { name: 'x' }, spec: {} }),
    post('volume', '/api/v1/persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: '{ns}' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
    }),
    post('volume of nothing', '/api/v1/persistentvolumes', { metadata: { name: 'x' }, spec: {} }),
    post('storage class', '/apis/storage.k8s.io/v1/storageclasses', {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: '{ns}' },
      provisioner: 'example.com/p',
    }),
    patch('storage class is immutable', '/apis/storage.k8s.io/v1/storageclasses/{ns}', mergePatch, {
      provisioner: 'x/y',
    }),
  ),
  test(
    'networking',
    post('Ingress', grouped('networking.k8s.io/v1', 'ingresses'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i' },
      spec: {
        rules: [
          {
            host: 'a.example.com',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      },
    }),
    post('no path type', grouped('networking.k8s.io/v1', 'ingresses'), {
      metadata: { name: 'x' },
      spec: {
        rules: [{ http: { paths: [{ path: '/', backend: { service: { name: 's', port: { number: 80 } } } }] } }],
      },
    }),
    post('no rules', grouped('networking.k8s.io/v1', 'ingresses'), { metadata: { name: 'x' }, spec: {} }),
    get('table', grouped('networking.k8s.io/v1', 'ingresses'), { headers: { accept: asTable } }),
    post('NetworkPolicy', grouped('networking.k8s.io/v1', 'networkpolicies'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'n' },
      spec: { podSelector: {}, egress: [{ ports: [{ port: 80 }] }] },
    }),
    post('IngressClass', '/apis/networking.k8s.io/v1/ingressclasses', {
      metadata: { name: '{ns}' },
      spec: { controller: 'example.com/c' },
    }),
    post('Endpoints', core('endpoints'), {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'e' },
      subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }],
    }),
    post('EndpointSlice', grouped('discovery.k8s.io/v1', 'endpointslices'), {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'e' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.1.1'] }],
      ports: [{ port: 80 }],
    }),
    post('bad EndpointSlice', grouped('discovery.k8s.io/v1', 'endpointslices'), {
      metadata: { name: 'x' },
      addressType: 'IPv9',
      endpoints: [],
    }),
  ),
  test(
    'budgets and autoscalers',
    post('PodDisruptionBudget', grouped('policy/v1', 'poddisruptionbudgets'), {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'p' },
      spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
    }),
    post('both bounds', grouped('policy/v1', 'poddisruptionbudgets'), {
      metadata: { name: 'x' },
      spec: { minAvailable: 1, maxUnavailable: 1 },
    }),
    post('HorizontalPodAutoscaler', grouped('autoscaling/v2', 'horizontalpodautoscalers'), {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
    }),
    get('as v1', grouped('autoscaling/v1', 'horizontalpodautoscalers/h')),
    post('no maximum', grouped('autoscaling/v2', 'horizontalpodautoscalers'), {
      metadata: { name: 'x' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
    }),
    post('ResourceQuota', core('resourcequotas'), { metadata: { name: 'q' }, spec: { hard: { configmaps: '100' } } }),
    post('LimitRange', core('limitranges'), {
      metadata: { name: 'l' },
      spec: { limits: [{ type: 'Container', default: { cpu: '100m' } }] },
    }),
    post('PriorityClass', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: '{ns}' }, value: 10 }),
    get('priority classes', '/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical'),
  ),
  test(
    'Lease',
    post(
      'create',
      leases,
      leaseOf('l', {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.123456Z',
        leaseTransitions: 0,
      }),
      { save: { rv: (lease) => lease.metadata.resourceVersion } },
    ),
    post('bad duration', leases, leaseOf('x', { holderIdentity: 'a', leaseDurationSeconds: 0 })),
    put(
      'win',
      `${leases}/l`,
      leaseOf('l', { holderIdentity: 'b', leaseDurationSeconds: 15 }, { resourceVersion: '{rv}' }),
    ),
    put(
      'lose',
      `${leases}/l`,
      leaseOf('l', { holderIdentity: 'c', leaseDurationSeconds: 15 }, { resourceVersion: '{rv}' }),
    ),
    put('without a version', `${leases}/l`, leaseOf('l', { holderIdentity: 'd' })),
    put('create by PUT', `${leases}/m`, leaseOf('m', { holderIdentity: 'd' })),
    put('create by PUT with a uid', `${leases}/n`, leaseOf('n', {}, { uid: '11111111-1111-1111-1111-111111111111' })),
    get('table', leases, { headers: { accept: asTable } }),
  ),
  test(
    'Events of both groups',
    post('core', core('events'), {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e1' },
      involvedObject: { kind: 'Pod', namespace: '{ns}', name: 'p', uid: 'u1' },
      reason: 'R',
      message: 'm',
      type: 'Normal',
      source: { component: 'x' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    }),
    post('of another namespace', core('events'), {
      metadata: { name: 'e2' },
      involvedObject: { kind: 'Pod', namespace: 'elsewhere', name: 'p' },
      reason: 'R',
    }),
    get('read as the other', grouped('events.k8s.io/v1', 'events/e1')),
    post('the other', grouped('events.k8s.io/v1', 'events'), {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e3' },
      regarding: { kind: 'Pod', namespace: '{ns}', name: 'p' },
      reason: 'R',
      note: 'm',
      type: 'Normal',
      action: 'A',
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'x.y/z',
      reportingInstance: 'i',
    }),
    post('the other, bare', grouped('events.k8s.io/v1', 'events'), { metadata: { name: 'e4' }, reason: 'R' }),
    get('by field', core('events?fieldSelector=involvedObject.name%3Dp,type%3DNormal'), {
      pick: (list) => list.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    }),
  ),
  test(
    'Nodes and namespaces',
    post('Node', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '{ns}' } }),
    patch('status', '/api/v1/nodes/{ns}/status', mergePatch, { status: { capacity: { cpu: '4', memory: '8192Mi' } } }),
    patch('cordon', '/api/v1/nodes/{ns}', mergePatch, { spec: { unschedulable: true } }),
    get('table', '/api/v1/nodes/{ns}', { headers: { accept: asTable } }),
    del('delete', '/api/v1/nodes/{ns}'),
    get('namespace', '/api/v1/namespaces/{ns}'),
    patch('label', '/api/v1/namespaces/{ns}', mergePatch, { metadata: { labels: { team: 'x' } } }),
    patch('name label is kept', '/api/v1/namespaces/{ns}', mergePatch, {
      metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } },
    }),
    del('delete without controllers', '/api/v1/namespaces/{ns}'),
    post('late', core('configmaps'), { metadata: { name: 'late' } }),
    del('the default one', '/api/v1/namespaces/default'),
    del('kube-system', '/api/v1/namespaces/kube-system'),
    put('finalize', '/api/v1/namespaces/{ns}/finalize', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: '{ns}' },
      spec: {},
    }),
    get('gone', '/api/v1/namespaces/{ns}'),
  ),
];
