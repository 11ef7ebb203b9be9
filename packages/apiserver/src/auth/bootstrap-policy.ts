import type { ApiObject } from '../object.ts';
import type { PolicyRule } from './policy-rules.ts';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-';

const NAMESPACED_READABLE: Record<string, string[]> = {
  '': [
    'configmaps',
    'endpoints',
    'persistentvolumeclaims',
    'persistentvolumeclaims/status',
    'pods',
    'replicationcontrollers',
    'replicationcontrollers/scale',
    'serviceaccounts',
    'services',
    'services/status',
    'bindings',
    'events',
    'limitranges',
    'namespaces/status',
    'pods/log',
    'pods/status',
    'replicationcontrollers/status',
    'resourcequotas',
    'resourcequotas/status',
    'namespaces',
  ],
  'discovery.k8s.io': ['endpointslices'],
  apps: [
    'controllerrevisions',
    'daemonsets',
    'daemonsets/status',
    'deployments',
    'deployments/scale',
    'deployments/status',
    'replicasets',
    'replicasets/scale',
    'replicasets/status',
    'statefulsets',
    'statefulsets/scale',
    'statefulsets/status',
  ],
  autoscaling: ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'],
  batch: ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'],
  policy: ['poddisruptionbudgets', 'poddisruptionbudgets/status'],
  'networking.k8s.io': ['ingresses', 'ingresses/status', 'networkpolicies'],
};

const NAMESPACED_WRITABLE: Record<string, string[]> = {
  '': [
    'pods',
    'pods/attach',
    'pods/exec',
    'pods/portforward',
    'pods/proxy',
    'configmaps',
    'events',
    'persistentvolumeclaims',
    'replicationcontrollers',
    'replicationcontrollers/scale',
    'secrets',
    'serviceaccounts',
    'services',
    'services/proxy',
  ],
  apps: [
    'daemonsets',
    'deployments',
    'deployments/rollback',
    'deployments/scale',
    'replicasets',
    'replicasets/scale',
    'statefulsets',
    'statefulsets/scale',
  ],
  autoscaling: ['horizontalpodautoscalers'],
  batch: ['cronjobs', 'jobs'],
  policy: ['poddisruptionbudgets'],
  'networking.k8s.io': ['ingresses', 'networkpolicies'],
  'coordination.k8s.io': ['leases'],
};

function rulesFor(table: Record<string, string[]>, verbs: string[]): PolicyRule[] {
  return Object.entries(table).map(([group, resources]) => ({ verbs, apiGroups: [group], resources }));
}

const VIEW_RULES: PolicyRule[] = rulesFor(NAMESPACED_READABLE, READ);
const EDIT_RULES: PolicyRule[] = [
  {
    verbs: READ,
    apiGroups: [''],
    resources: ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'],
  },
  { verbs: ['impersonate'], apiGroups: [''], resources: ['serviceaccounts'] },
  { verbs: ['create'], apiGroups: [''], resources: ['pods/eviction', 'serviceaccounts/token'] },
  ...rulesFor(NAMESPACED_WRITABLE, WRITE),
  { verbs: READ, apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
];
const ADMIN_RULES: PolicyRule[] = [
  { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews'] },
  {
    verbs: [...WRITE, ...READ],
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['rolebindings', 'roles'],
  },
];

const DISCOVERY_URLS = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
];
const PUBLIC_URLS = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

const RBAC = 'rbac.authorization.k8s.io/v1';
const LABELS = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const ANNOTATIONS = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };

function clusterRole(name: string, rules: PolicyRule[], labels: Record<string, string> = {}): ApiObject {
  return {
    apiVersion: RBAC,
    kind: 'ClusterRole',
    metadata: { name, labels: { ...LABELS, ...labels }, annotations: ANNOTATIONS },
    rules,
  };
}

function aggregated(
  name: string,
  selector: string,
  rules: PolicyRule[],
  labels: Record<string, string> = {},
): ApiObject {
  return {
    ...clusterRole(name, rules, labels),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [selector]: 'true' } }] },
  };
}

function clusterRoleBinding(name: string, role: string, groups: string[]): ApiObject {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: RBAC,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: LABELS, annotations: ANNOTATIONS },
    subjects: groups.map((group) => ({ kind: 'Group', apiGroup, name: group })),
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
  };
}

/** The roles and bindings every cluster starts with, without those that only components we do not run would use. */
export function bootstrapPolicy(): ApiObject[] {
  return [
    clusterRole('cluster-admin', [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ]),
    clusterRole('system:discovery', [{ verbs: ['get'], nonResourceURLs: DISCOVERY_URLS }]),
    clusterRole('system:public-info-viewer', [{ verbs: ['get'], nonResourceURLs: PUBLIC_URLS }]),
    clusterRole('system:basic-user', [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ]),
    clusterRole('system:monitoring', [
      {
        verbs: ['get'],
        nonResourceURLs: [
          '/healthz',
          '/healthz/*',
          '/livez',
          '/livez/*',
          '/metrics',
          '/metrics/slis',
          '/readyz',
          '/readyz/*',
        ],
      },
    ]),
    clusterRole('system:auth-delegator', [
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
      { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'] },
    ]),
    clusterRole('system:service-account-issuer-discovery', [
      { verbs: ['get'], nonResourceURLs: ['/.well-known/openid-configuration', '/openid/v1/jwks'] },
    ]),
    clusterRole('system:persistent-volume-provisioner', [
      {
        verbs: ['create', 'delete', 'get', 'list', 'watch'],
        apiGroups: [''],
        resources: ['persistentvolumes'],
      },
      { verbs: ['get', 'list', 'update', 'watch'], apiGroups: [''], resources: ['persistentvolumeclaims'] },
      { verbs: READ, apiGroups: ['storage.k8s.io'], resources: ['storageclasses'] },
      { verbs: ['watch'], apiGroups: [''], resources: ['events'] },
      { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
    ]),
    clusterRole('system:aggregate-to-view', VIEW_RULES, { [`${AGGREGATE}view`]: 'true' }),
    clusterRole('system:aggregate-to-edit', EDIT_RULES, { [`${AGGREGATE}edit`]: 'true' }),
    clusterRole('system:aggregate-to-admin', ADMIN_RULES, { [`${AGGREGATE}admin`]: 'true' }),
    aggregated('view', `${AGGREGATE}view`, VIEW_RULES, { [`${AGGREGATE}edit`]: 'true' }),
    aggregated('edit', `${AGGREGATE}edit`, [...EDIT_RULES, ...VIEW_RULES], { [`${AGGREGATE}admin`]: 'true' }),
    aggregated('admin', `${AGGREGATE}admin`, [...ADMIN_RULES, ...EDIT_RULES, ...VIEW_RULES]),
    clusterRoleBinding('cluster-admin', 'cluster-admin', ['system:masters']),
    clusterRoleBinding('system:discovery', 'system:discovery', ['system:authenticated']),
    clusterRoleBinding('system:basic-user', 'system:basic-user', ['system:authenticated']),
    clusterRoleBinding('system:public-info-viewer', 'system:public-info-viewer', [
      'system:authenticated',
      'system:unauthenticated',
    ]),
    clusterRoleBinding('system:monitoring', 'system:monitoring', ['system:monitoring']),
    clusterRoleBinding('system:service-account-issuer-discovery', 'system:service-account-issuer-discovery', [
      'system:serviceaccounts',
    ]),
  ];
}
