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
  strategicPatch,
} from '../case.ts';

const deployments = grouped('apps/v1', 'deployments');
const pods = core('pods');

export function deployment(name: string, spec: object = {}, podSpec: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            { name: 'main', image: 'web', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] },
          ],
          ...podSpec,
        },
      },
      ...spec,
    },
  };
}

const podOf = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'web:1' }], ...spec },
});
const container = (extra: object) => ({ containers: [{ name: 'main', image: 'web:1', ...extra }] });
const createDeployment = post('create', `${deployments}?fieldManager=first`, deployment('web'));
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'x:1' }] } };
const selector = { matchLabels: { a: 'b' } };

/** Pods and what makes them. */
export const workloads = [
  test(
    'Deployment defaults and errors',
    createDeployment,
    post('selector does not match', deployments, deployment('bad', { selector: { matchLabels: { app: 'other' } } })),
    post('no containers', deployments, deployment('bad', {}, { containers: [] })),
    post('empty spec', deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'bad' }, spec: {} }),
    post('negative replicas', deployments, deployment('bad', { replicas: -1 })),
    post(
      'strategy',
      deployments,
      deployment('bad', { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
    ),
    post(
      'no surge and none unavailable',
      deployments,
      deployment('bad', {
        strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
      }),
    ),
    post('bad percentage', deployments, deployment('bad', { strategy: { rollingUpdate: { maxSurge: '10' } } })),
    post('restart policy', deployments, deployment('bad', {}, { restartPolicy: 'Never' })),
    post('status is dropped', `${deployments}?dryRun=All`, {
      ...(deployment('st') as object),
      status: { replicas: 5 },
    }),
    post('progress before ready', deployments, deployment('bad', { minReadySeconds: 10, progressDeadlineSeconds: 5 })),
  ),
  test(
    'generation and status',
    createDeployment,
    patch('metadata keeps it', `${deployments}/web`, mergePatch, { metadata: { labels: { x: 'y' } } }),
    patch('spec moves it', `${deployments}/web`, mergePatch, { spec: { replicas: 3 } }),
    patch('status through the object', `${deployments}/web`, mergePatch, { status: { replicas: 9 } }),
    patch('the rest through status', `${deployments}/web/status?fieldManager=controller`, mergePatch, {
      metadata: { labels: { sneaky: '1' }, annotations: { note: '1' } },
      spec: { replicas: 7 },
      status: {
        replicas: 3,
        observedGeneration: 2,
        conditions: [
          {
            type: 'Available',
            status: 'True',
            reason: 'r',
            message: 'm',
            lastUpdateTime: '2026-01-01T00:00:00Z',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    }),
    get('status', `${deployments}/web/status`),
    patch('negative', `${deployments}/web/status`, mergePatch, { status: { replicas: -1 } }),
    patch('selector is immutable', `${deployments}/web`, mergePatch, {
      spec: { selector: { matchLabels: { app: 'other' } } },
    }),
    get('table', deployments, { headers: { accept: asTable } }),
  ),
  test(
    'strategic merge patch',
    createDeployment,
    patch('by key', `${deployments}/web`, strategicPatch, {
      spec: {
        template: {
          spec: { containers: [{ name: 'main', env: [{ name: 'B', value: '2' }], ports: [{ containerPort: 81 }] }] },
        },
      },
    }),
    patch('delete an element', `${deployments}/web`, strategicPatch, {
      spec: { template: { spec: { containers: [{ name: 'main', env: [{ name: 'A', $patch: 'delete' }] }] } } },
    }),
    patch('order of elements', `${deployments}/web`, strategicPatch, {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'side' }, { name: 'main' }],
            containers: [{ name: 'side', image: 'box' }],
          },
        },
      },
    }),
    patch('retain keys', `${deployments}/web`, strategicPatch, {
      spec: { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } },
    }),
    patch('replace a map', `${deployments}/web`, strategicPatch, {
      metadata: { labels: { $patch: 'replace', only: '1' } },
    }),
    patch('no merge key', `${deployments}/web`, strategicPatch, {
      spec: { template: { spec: { containers: [{ image: 'x' }] } } },
    }),
    patch('replace a list', `${deployments}/web`, strategicPatch, {
      spec: { template: { spec: { containers: [{ $patch: 'replace' }, { name: 'new', image: 'n' }] } } },
    }),
    patch('wrong type', `${deployments}/web`, strategicPatch, { spec: { replicas: 'many' } }),
    patch('list for a map', `${deployments}/web`, strategicPatch, { spec: [] }),
  ),
  test(
    'scale',
    createDeployment,
    get('read', `${deployments}/web/scale`),
    put('put', `${deployments}/web/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'web', namespace: '{ns}' },
      spec: { replicas: 2 },
    }),
    patch('patch', `${deployments}/web/scale?fieldManager=hpa`, mergePatch, { spec: { replicas: 4 } }),
    patch('same again', `${deployments}/web/scale?fieldManager=hpa`, mergePatch, { spec: { replicas: 4 } }),
    patch('negative', `${deployments}/web/scale`, mergePatch, { spec: { replicas: -4 } }),
    put('stale', `${deployments}/web/scale`, {
      metadata: { name: 'web', resourceVersion: '1' },
      spec: { replicas: 2 },
    }),
    get('not there', `${deployments}/none/scale`),
    get('the Deployment', `${deployments}/web`),
  ),
  test(
    'Pod defaults',
    post(
      'probe and limits',
      pods,
      podOf(
        'a',
        container({
          livenessProbe: { httpGet: { port: 80 } },
          resources: { limits: { cpu: '500m', memory: '1Gi' } },
        }),
      ),
    ),
    post(
      'quantities',
      `${pods}?dryRun=All`,
      podOf(
        'q',
        container({
          resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { cpu: '1000m', memory: '2048Mi' } },
        }),
      ),
    ),
    post('requests only', `${pods}?dryRun=All`, podOf('q', container({ resources: { requests: { cpu: '1e-1' } } }))),
    post(
      'volumes',
      `${pods}?dryRun=All`,
      podOf('v', {
        ...container({ volumeMounts: [{ name: 'd', mountPath: '/d' }] }),
        volumes: [
          { name: 'd' },
          { name: 'c', configMap: { name: 'c' } },
          { name: 's', secret: { secretName: 's' } },
          { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
        ],
      }),
    ),
    post(
      'env from fields',
      `${pods}?dryRun=All`,
      podOf(
        'e',
        container({
          env: [
            { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
          ],
          envFrom: [{ configMapRef: { name: 'c' } }],
        }),
      ),
    ),
    post(
      'init containers, host network',
      `${pods}?dryRun=All`,
      podOf('i', {
        hostNetwork: true,
        initContainers: [{ name: 'init', image: 'i:latest', restartPolicy: 'Always' }],
        containers: [
          { name: 'main', image: 'r.example.com:5000/web@sha256:' + '0'.repeat(64), ports: [{ containerPort: 8080 }] },
        ],
      }),
    ),
    post(
      'service account and priority',
      `${pods}?dryRun=All`,
      podOf('sa', {
        serviceAccountName: 'robot',
        priorityClassName: 'system-node-critical',
        tolerations: [{ operator: 'Exists' }],
      }),
    ),
    get('table', `${pods}/a`, { headers: { accept: asTable } }),
  ),
  test(
    'Pod errors',
    post('no containers', pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} }),
    post('no image', pods, podOf('x', { containers: [{ name: 'main' }] })),
    post('no name of a container', pods, podOf('x', { containers: [{ image: 'x' }] })),
    post(
      'the same name twice',
      pods,
      podOf('x', {
        containers: [
          { name: 'a', image: 'x' },
          { name: 'a', image: 'y' },
        ],
      }),
    ),
    post('bad name of a container', pods, podOf('x', { containers: [{ name: 'A_b', image: 'x' }] })),
    post('bad port', pods, podOf('x', container({ ports: [{ containerPort: 70_000 }] }))),
    post(
      'requests above limits',
      pods,
      podOf(
        'x',
        container({
          resources: { requests: { cpu: '2' }, limits: { cpu: '1' } },
        }),
      ),
    ),
    post('bad quantity', pods, podOf('x', container({ resources: { requests: { cpu: 'lots' } } }))),
    post('mount of no volume', pods, podOf('x', container({ volumeMounts: [{ name: 'no', mountPath: '/d' }] }))),
    post('bad policies', pods, podOf('x', { restartPolicy: 'Perhaps', dnsPolicy: 'None' })),
    post('bad pull policy', pods, podOf('x', container({ imagePullPolicy: 'Sometimes' }))),
    post('bad env name', pods, podOf('x', container({ env: [{ name: '', value: '1' }] }))),
    post(
      'two handlers in a probe',
      pods,
      podOf(
        'x',
        container({
          readinessProbe: { httpGet: { port: 80 }, exec: { command: ['a'] } },
        }),
      ),
    ),
    post('volume of two kinds', pods, podOf('x', { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] })),
    post('unknown priority class', pods, podOf('x', { priorityClassName: 'nobody' })),
  ),
  test(
    'Pod changes and life',
    post('create', pods, podOf('a', {}, { labels: { app: 'a' } })),
    patch('most of the spec is immutable', `${pods}/a`, mergePatch, { spec: { restartPolicy: 'Never' } }),
    patch('the image is not', `${pods}/a`, strategicPatch, {
      spec: { containers: [{ name: 'main', image: 'web:2' }] },
    }),
    put(
      'without what admission filled in',
      `${pods}/a`,
      podOf('a', { containers: [{ name: 'main', image: 'web:2' }] }),
    ),
    put('another priority', `${pods}/a`, podOf('a', { containers: [{ name: 'main', image: 'web:2' }], priority: 7 })),
    post('bind', `${pods}/a/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'a' },
      target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
    }),
    post('bind again', `${pods}/a/binding`, { metadata: { name: 'a' }, target: { kind: 'Node', name: 'node-2' } }),
    patch('status', `${pods}/a/status`, strategicPatch, {
      status: { phase: 'Running', podIP: '10.1.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
    }),
    patch('second condition', `${pods}/a/status`, strategicPatch, {
      status: { conditions: [{ type: 'Initialized', status: 'True' }] },
    }),
    get('by node', `${pods}?fieldSelector=spec.nodeName%3Dnode-1,status.phase%3DRunning`, {
      pick: (list) => list.items.length,
    }),
    del('with grace', `${pods}/a`),
    del('with less', `${pods}/a?gracePeriodSeconds=5`),
    del('at once', `${pods}/a?gracePeriodSeconds=0`),
    get('gone', `${pods}/a`),
    post('create unscheduled', pods, podOf('b')),
    del('goes at once', `${pods}/b`),
    get('gone too', `${pods}/b`),
    post('evict what is not there', `${pods}/c/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'c' },
    }),
    get('logs of what is not there', `${pods}/c/log`),
  ),
  test(
    'StatefulSet, DaemonSet, ReplicaSet',
    post('StatefulSet', grouped('apps/v1', 'statefulsets'), {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 's' },
      spec: {
        serviceName: 'x',
        selector,
        template,
        volumeClaimTemplates: [
          {
            metadata: { name: 'd' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    }),
    patch('immutable', grouped('apps/v1', 'statefulsets/s'), mergePatch, { spec: { serviceName: 'y' } }),
    patch('mutable', grouped('apps/v1', 'statefulsets/s'), mergePatch, { spec: { replicas: 2 } }),
    post('DaemonSet', grouped('apps/v1', 'daemonsets'), {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'd' },
      spec: { selector, template },
    }),
    post('ReplicaSet', grouped('apps/v1', 'replicasets'), {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'r' },
      spec: { selector, template },
    }),
    post('ReplicaSet without a template', grouped('apps/v1', 'replicasets'), {
      metadata: { name: 'x' },
      spec: { selector },
    }),
    post('ControllerRevision', grouped('apps/v1', 'controllerrevisions'), {
      metadata: { name: 'c' },
      revision: 1,
      data: { a: 1 },
    }),
    get('tables', grouped('apps/v1', 'statefulsets'), { headers: { accept: asTable } }),
    get('table of DaemonSets', grouped('apps/v1', 'daemonsets'), { headers: { accept: asTable } }),
    get('table of ReplicaSets', grouped('apps/v1', 'replicasets'), { headers: { accept: asTable } }),
  ),
  test(
    'Job and CronJob',
    post('Job', grouped('batch/v1', 'jobs'), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
    }),
    post('no restart policy', grouped('batch/v1', 'jobs'), { metadata: { name: 'x' }, spec: { template } }),
    patch('template is immutable', grouped('batch/v1', 'jobs/j'), mergePatch, { spec: { completions: 5 } }),
    patch('suspend', grouped('batch/v1', 'jobs/j'), mergePatch, { spec: { suspend: true } }),
    get('table', grouped('batch/v1', 'jobs'), { headers: { accept: asTable } }),
    del('orphans by default', grouped('batch/v1', 'jobs/j')),
    post('CronJob', grouped('batch/v1', 'cronjobs'), {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c' },
      spec: {
        schedule: '*/5 * * * *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'OnFailure' } } } },
      },
    }),
    post('bad schedule', grouped('batch/v1', 'cronjobs'), {
      metadata: { name: 'x' },
      spec: {
        schedule: 'whenever',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'OnFailure' } } } },
      },
    }),
    get('table of CronJobs', grouped('batch/v1', 'cronjobs'), { headers: { accept: asTable } }),
  ),
  test(
    'apply a Deployment',
    patch('create', `${deployments}/d?fieldManager=app`, applyPatch, {
      ...(deployment('d', { replicas: 2 }) as object),
    }),
    patch('scaled by another', `${deployments}/d/scale?fieldManager=hpa`, mergePatch, { spec: { replicas: 5 } }),
    patch('without replicas', `${deployments}/d?fieldManager=app`, applyPatch, deployment('d')),
    patch('conflict over replicas', `${deployments}/d?fieldManager=app`, applyPatch, deployment('d', { replicas: 2 })),
    patch('a container by another', `${deployments}/d?fieldManager=injector`, applyPatch, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { template: { spec: { containers: [{ name: 'side', image: 'y:1' }] } } },
    }),
    patch('image forced by another', `${deployments}/d?fieldManager=injector&force=true`, applyPatch, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { template: { spec: { containers: [{ name: 'main', image: 'z:1' }] } } },
    }),
    patch('conflict over the image', `${deployments}/d?fieldManager=app`, applyPatch, deployment('d')),
    patch('status', `${deployments}/d/status?fieldManager=controller`, applyPatch, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      status: { replicas: 1, conditions: [{ type: 'Available', status: 'True' }] },
    }),
    patch('wrong type', `${deployments}/d?fieldManager=app`, applyPatch, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { replicas: 'two' },
    }),
  ),
];
