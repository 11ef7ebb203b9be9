import {
  configMap,
  core,
  del,
  differentialCase as test,
  get,
  grouped,
  mergePatch,
  patch,
  poll,
  post,
  strategicPatch,
  type Json,
} from '../case.ts';
import { deployment } from './workloads.ts';

const maps = core('configmaps');
const owner = (name: string) =>
  post(`owner ${name}`, maps, configMap(name, {}), { save: { [name]: ({ metadata }: Json) => metadata.uid } });
const dependent = (name: string, of: string, extra: object = {}, block?: boolean) =>
  post(
    `dependent ${name}`,
    maps,
    configMap(
      name,
      {},
      {
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: of,
            uid: `{${of}}`,
            ...(block === undefined ? {} : { blockOwnerDeletion: block }),
          },
        ],
        ...extra,
      },
    ),
  );
const gone = (path: string) => poll(`${path} to go`, path, ({ status }) => status === 404);
const deployments = grouped('apps/v1', 'deployments');
const essence = ({ metadata, spec, status }: Json) => ({
  generation: metadata.generation,
  annotations: metadata.annotations,
  replicas: spec.replicas,
  status: {
    ...status,
    conditions: status.conditions
      ?.map(({ type, status: value, reason }: Json) => `${type}=${value} ${reason}`)
      .toSorted(),
  },
});
const available = (count: number, generation: number) =>
  poll(
    `${count} available`,
    `${deployments}/web`,
    ({ body }) =>
      body.status?.availableReplicas === count &&
      body.status?.updatedReplicas === count &&
      body.status?.replicas === count &&
      body.status?.observedGeneration === generation,
  );
const podNames = (list: Json) =>
  list.items
    .map(({ metadata, spec, status }: Json) => ({
      owner: metadata.ownerReferences?.map(({ kind, controller, blockOwnerDeletion }: Json) => ({
        kind,
        controller,
        blockOwnerDeletion,
      })),
      labels: Object.keys(metadata.labels).toSorted(),
      image: spec.containers[0].image,
      phase: status.phase,
      ready: status.conditions?.find(({ type }: Json) => type === 'Ready')?.status,
    }))
    .toSorted((a: Json, b: Json) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

/** What controllers make of what is written. */
export const controlling = [
  test(
    'a new namespace gets its furniture',
    poll('the account', core('serviceaccounts/default'), ({ status }) => status === 200),
    poll('the authority', core('configmaps/kube-root-ca.crt'), ({ status }) => status === 200),
    get('account', core('serviceaccounts/default')),
    get('authority', core('configmaps/kube-root-ca.crt'), {
      pick: ({ metadata, data }: Json) => ({ annotations: metadata.annotations, keys: Object.keys(data) }),
    }),
  ),
  test(
    'garbage collection in the background',
    owner('own'),
    dependent('one', 'own'),
    dependent('two', 'own', { finalizers: ['example.com/f'] }),
    del('owner', `${maps}/own`),
    gone(`${maps}/one`),
    poll('the other to be marked', `${maps}/two`, ({ body }) => Boolean(body.metadata?.deletionTimestamp)),
    patch('let go', `${maps}/two`, mergePatch, { metadata: { finalizers: null } }, { pick: ({ kind }: Json) => kind }),
    gone(`${maps}/two`),
  ),
  test(
    'garbage collection in the foreground',
    owner('own'),
    dependent('blocks', 'own', { finalizers: ['example.com/f'] }, true),
    dependent('free', 'own', {}, false),
    poll('the collector to know them', `${maps}/blocks`, ({ status }) => status === 200),
    del('owner', `${maps}/own?propagationPolicy=Foreground`),
    poll('the one that blocks to be marked', `${maps}/blocks`, ({ body }) => Boolean(body.metadata?.deletionTimestamp)),
    get('owner waits', `${maps}/own`, { pick: ({ metadata }: Json) => metadata.finalizers }),
    patch(
      'let go',
      `${maps}/blocks`,
      mergePatch,
      { metadata: { finalizers: null } },
      { pick: ({ kind }: Json) => kind },
    ),
    gone(`${maps}/own`),
    gone(`${maps}/free`),
  ),
  test(
    'garbage collection orphans',
    owner('own'),
    dependent('stays', 'own'),
    del('owner', `${maps}/own?propagationPolicy=Orphan`),
    gone(`${maps}/own`),
    poll('the reference to go', `${maps}/stays`, ({ body }) => !body.metadata.ownerReferences),
    get('it stays', `${maps}/stays`, { pick: ({ metadata }: Json) => metadata.ownerReferences ?? 'none' }),
  ),
  test(
    'garbage collection of an owner that never was',
    post(
      'dependent',
      maps,
      configMap(
        'lost',
        {},
        {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: '00000000-0000-0000-0000-000000000000' },
          ],
        },
      ),
    ),
    gone(`${maps}/lost`),
    get('gone', `${maps}/lost`),
  ),
  test(
    'a namespace goes with what is in it',
    post('object', maps, configMap('a', {})),
    post('object with a finalizer', maps, configMap('stuck', {}, { finalizers: ['example.com/f'] })),
    del('namespace', '/api/v1/namespaces/{ns}', undefined, {
      pick: ({ kind, status, spec }: Json) => ({ kind, status, spec }),
    }),
    post('late', maps, configMap('late', {})),
    gone(`${maps}/a`),
    poll('the conditions', '/api/v1/namespaces/{ns}', ({ body }) =>
      Boolean(
        body.status?.conditions?.some(
          ({ type, status }: Json) => type === 'NamespaceFinalizersRemaining' && status === 'True',
        ),
      ),
    ),
    get('conditions', '/api/v1/namespaces/{ns}', {
      pick: ({ status }: Json) => ({
        phase: status.phase,
        conditions: status.conditions
          .map(({ type, status: value, reason, message }: Json) => ({ type, status: value, reason, message }))
          .toSorted((a: Json, b: Json) => a.type.localeCompare(b.type)),
      }),
    }),
    patch(
      'let go',
      `${maps}/stuck`,
      mergePatch,
      { metadata: { finalizers: null } },
      { pick: ({ kind }: Json) => kind },
    ),
    gone('/api/v1/namespaces/{ns}'),
    get('gone', '/api/v1/namespaces/{ns}'),
  ),
  test(
    'a Deployment rolls out, scales and goes',
    post('create', deployments, deployment('web', { replicas: 2 }), { pick: ({ kind }: Json) => kind }),
    available(2, 1),
    get('Deployment', `${deployments}/web`, { pick: essence }),
    get('pods', core('pods'), { pick: podNames }),
    get('ReplicaSets', grouped('apps/v1', 'replicasets'), {
      pick: ({ items }: Json) =>
        items.map(({ metadata, spec, status }: Json) => ({
          annotations: metadata.annotations,
          replicas: spec.replicas,
          status,
        })),
    }),
    patch(
      'new image',
      `${deployments}/web`,
      strategicPatch,
      {
        spec: { template: { spec: { containers: [{ name: 'main', image: 'web:2' }] } } },
      },
      { pick: ({ metadata }: Json) => metadata.generation },
    ),
    available(2, 2),
    poll('the old pods to go', core('pods'), ({ body }) => body.items.length === 2),
    get('pods after', core('pods'), { pick: podNames }),
    get('Deployment after', `${deployments}/web`, { pick: essence }),
    get('ReplicaSets after', grouped('apps/v1', 'replicasets'), {
      pick: ({ items }: Json) => items.map(({ spec }: Json) => spec.replicas).toSorted(),
    }),
    patch(
      'scale',
      `${deployments}/web/scale`,
      mergePatch,
      { spec: { replicas: 3 } },
      { pick: ({ spec }: Json) => spec },
    ),
    available(3, 3),
    get('scale', `${deployments}/web/scale`, { pick: ({ spec, status }: Json) => ({ spec, status }) }),
    del('foreground', `${deployments}/web?propagationPolicy=Foreground`, undefined, { pick: ({ kind }: Json) => kind }),
    gone(`${deployments}/web`),
    get('nothing is left', core('pods'), { pick: ({ items }: Json) => items.length }),
  ),
  test(
    'a Job completes',
    post(
      'create',
      grouped('batch/v1', 'jobs'),
      {
        metadata: { name: 'job' },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'x' }] } } },
      },
      { pick: ({ kind }: Json) => kind },
    ),
    poll('it to complete', grouped('batch/v1', 'jobs/job'), ({ body }) =>
      Boolean(body.status?.conditions?.some(({ type, status }: Json) => type === 'Complete' && status === 'True')),
    ),
    get('Job', grouped('batch/v1', 'jobs/job'), {
      pick: ({ status }: Json) => ({
        ...status,
        conditions: status.conditions.map(({ type, status: value, reason, message }: Json) => ({
          type,
          value,
          reason,
          message,
        })),
      }),
    }),
    get('pods', core('pods'), { pick: podNames }),
  ),
  test(
    'slices follow readiness',
    post(
      'Service',
      core('services'),
      { metadata: { name: 's' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } },
      { pick: ({ kind }: Json) => kind },
    ),
    post('Deployment', deployments, deployment('web', { replicas: 2 }), { pick: ({ kind }: Json) => kind }),
    poll(
      'two endpoints',
      grouped('discovery.k8s.io/v1', 'endpointslices?labelSelector=kubernetes.io/service-name%3Ds'),
      ({ body }) => body.items?.[0]?.endpoints?.filter(({ conditions }: Json) => conditions.ready).length === 2,
    ),
    get('slice', grouped('discovery.k8s.io/v1', 'endpointslices?labelSelector=kubernetes.io/service-name%3Ds'), {
      pick: ({ items }: Json) =>
        items.map(({ metadata, addressType, ports, endpoints }: Json) => ({
          labels: metadata.labels,
          owner: metadata.ownerReferences.map(({ kind, name }: Json) => ({ kind, name })),
          addressType,
          ports,
          endpoints: endpoints.map(({ conditions, targetRef }: Json) => ({ conditions, kind: targetRef.kind })),
        })),
    }),
  ),
  test(
    'a StatefulSet and a DaemonSet become ready',
    post(
      'StatefulSet',
      grouped('apps/v1', 'statefulsets'),
      {
        metadata: { name: 's' },
        spec: {
          serviceName: 's',
          replicas: 2,
          selector: { matchLabels: { app: 's' } },
          template: { metadata: { labels: { app: 's' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
        },
      },
      { pick: ({ kind }: Json) => kind },
    ),
    poll(
      'two ready',
      grouped('apps/v1', 'statefulsets/s'),
      ({ body }) => body.status?.readyReplicas === 2 && body.status?.availableReplicas === 2,
    ),
    get('status', grouped('apps/v1', 'statefulsets/s'), {
      pick: ({ status }: Json) => ({ ...status, currentRevision: 'C', updateRevision: 'C' }),
    }),
    get('pods', core('pods?labelSelector=app%3Ds'), {
      pick: ({ items }: Json) =>
        items.map(({ metadata, spec }: Json) => ({
          name: metadata.name,
          hostname: spec.hostname,
          labels: Object.keys(metadata.labels).toSorted(),
        })),
    }),
    post(
      'DaemonSet',
      grouped('apps/v1', 'daemonsets'),
      {
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { app: 'd' } },
          template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
        },
      },
      { pick: ({ kind }: Json) => kind },
    ),
    poll(
      'one ready',
      grouped('apps/v1', 'daemonsets/d'),
      ({ body }) => body.status?.numberReady === 1 && body.status?.numberAvailable === 1,
    ),
    get('status of the DaemonSet', grouped('apps/v1', 'daemonsets/d'), { pick: ({ status }: Json) => status }),
  ),
];
