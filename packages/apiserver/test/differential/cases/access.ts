import {
  applyPatch,
  configMap,
  core,
  del,
  differentialCase as test,
  get,
  grouped,
  mergePatch,
  patch,
  post,
  put,
  type Json,
  type Step,
} from '../case.ts';

const rbac = 'rbac.authorization.k8s.io/v1';
const reviews = '/apis/authorization.k8s.io/v1';
const bob = { 'impersonate-user': 'bob', 'impersonate-group': 'devs' };
const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];

const rbacGroup = 'rbac.authorization.k8s.io';
const dora = { 'impersonate-user': 'dora' };
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '{ns}-b' } };

function roleFor(user: string, name: string, roleRules: readonly object[]): Step[] {
  return [
    post('Role', grouped(rbac, 'roles'), { apiVersion: rbac, kind: 'Role', metadata: { name }, rules: roleRules }),
    post('RoleBinding', grouped(rbac, 'rolebindings'), {
      apiVersion: rbac,
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
      subjects: [{ kind: 'User', name: user }],
    }),
  ];
}

/** Who one is and what one may do. */
export const access = [
  test(
    'reviews',
    post(
      'who am I',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'SelfSubjectReview',
      },
      {
        pick: ({ kind, status }: Json) => ({
          kind,
          username: status.userInfo.username,
          groups: status.userInfo.groups,
        }),
      },
    ),
    post('may I', `${reviews}/selfsubjectaccessreviews`, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'pods' } },
    }),
    post('may she', `${reviews}/subjectaccessreviews`, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'alice',
        groups: ['devs'],
        resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'pods' },
      },
    }),
    post('may she here', grouped('authorization.k8s.io/v1', 'localsubjectaccessreviews'), {
      metadata: { namespace: '{ns}' },
      spec: { user: 'alice', resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'pods' } },
    }),
    post('may she see a path', `${reviews}/subjectaccessreviews`, {
      spec: {
        user: 'alice',
        groups: ['system:authenticated'],
        nonResourceAttributes: { path: '/api', verb: 'get' },
      },
    }),
    post('may nobody', `${reviews}/subjectaccessreviews`, { spec: {} }),
    post('both kinds of attributes', `${reviews}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/' } },
    }),
    post(
      'rules of bob',
      `${reviews}/selfsubjectrulesreviews`,
      { spec: { namespace: '{ns}' } },
      {
        headers: bob,
        pick: ({ status }: Json) => status.resourceRules.map(({ resources, verbs }: Json) => ({ resources, verbs })),
      },
    ),
  ),
  test(
    'roles',
    post('Role', grouped(rbac, 'roles'), { apiVersion: rbac, kind: 'Role', metadata: { name: 'r' }, rules }),
    post('no verbs', grouped(rbac, 'roles'), {
      metadata: { name: 'x' },
      rules: [{ apiGroups: [''], resources: ['pods'] }],
    }),
    post('no resources', grouped(rbac, 'roles'), { metadata: { name: 'x' }, rules: [{ verbs: ['get'] }] }),
    post('paths in a Role', grouped(rbac, 'roles'), {
      metadata: { name: 'x' },
      rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
    }),
    post('RoleBinding', grouped(rbac, 'rolebindings'), {
      apiVersion: rbac,
      kind: 'RoleBinding',
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'alice' },
        { kind: 'ServiceAccount', name: 'robot' },
      ],
    }),
    patch('what it refers to is immutable', grouped(rbac, 'rolebindings/b'), mergePatch, {
      roleRef: { name: 'other' },
    }),
    post('bad subject', grouped(rbac, 'rolebindings'), {
      metadata: { name: 'x' },
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [{ kind: 'Robot', name: 'x' }],
    }),
    post('now she may', `${reviews}/subjectaccessreviews`, {
      spec: { user: 'alice', resourceAttributes: { namespace: '{ns}', verb: 'get', resource: 'configmaps' } },
    }),
    get('she does', core('configmaps'), { headers: { 'impersonate-user': 'alice' }, pick: ({ kind }: Json) => kind }),
    del('she does not', core('configmaps/x'), undefined, { headers: { 'impersonate-user': 'alice' } }),
    post('ClusterRole', `/apis/${rbac}/clusterroles`, {
      metadata: { name: '{ns}' },
      rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
    }),
    post('ClusterRoleBinding', `/apis/${rbac}/clusterrolebindings`, {
      metadata: { name: '{ns}' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '{ns}' },
      subjects: [{ kind: 'Group', name: 'g' }],
    }),
    post('more than one has', grouped(rbac, 'roles'), { metadata: { name: 'y' }, rules }, { headers: bob }),
    get('bootstrap role', `/apis/${rbac}/clusterroles/view`, {
      pick: ({ metadata, aggregationRule }: Json) => ({ labels: metadata.labels, aggregationRule }),
    }),
    get('bootstrap binding', `/apis/${rbac}/clusterrolebindings/cluster-admin`, {
      pick: ({ subjects, roleRef }: Json) => ({ subjects, roleRef }),
    }),
  ),
  test(
    'what bob may not',
    get('list', core('pods'), { headers: bob }),
    get('cluster-scoped', '/api/v1/nodes/n1', { headers: bob }),
    get('another group', grouped('apps/v1', 'deployments/d'), { headers: bob }),
    post('create', grouped('apps/v1', 'deployments'), { metadata: { name: 'd' } }, { headers: bob }),
    get('a path', '/metrics', { headers: bob }),
    get('a subresource', core('pods/p/status'), { headers: bob }),
    get('watch', core('pods?watch=true'), { headers: bob }),
    del('a collection', core('pods'), undefined, { headers: bob }),
    get('impersonate from there', core('pods'), { headers: { 'impersonate-group': 'only-a-group' } }),
    get('all namespaces', '/api/v1/secrets', { headers: bob }),
    get('what is no resource', core('gizmos'), { headers: bob }),
  ),
  test(
    'who may change may not create',
    post('Role', grouped(rbac, 'roles'), {
      apiVersion: rbac,
      kind: 'Role',
      metadata: { name: 'patching' },
      rules: [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update'] },
      ],
    }),
    post('RoleBinding', grouped(rbac, 'rolebindings'), {
      apiVersion: rbac,
      kind: 'RoleBinding',
      metadata: { name: 'patching' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'patching' },
      subjects: [{ kind: 'User', name: 'carol' }],
    }),
    {
      does: 'poll',
      what: 'the role to be known',
      request: patch('probe', core('configmaps/c?fieldManager=carol&dryRun=All'), applyPatch, configMap('c', {}), {
        headers: { 'impersonate-user': 'carol' },
      }),
      until: ({ body }) => String(body.message).includes('cannot create'),
    },
    ...['', '&dryRun=All'].map((more) =>
      patch(
        `apply to nothing${more}`,
        core(`configmaps/c?fieldManager=carol${more}`),
        applyPatch,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1' } },
        { headers: { 'impersonate-user': 'carol' } },
      ),
    ),
    patch(
      'apply something wrong to nothing',
      core('configmaps/c?fieldManager=carol'),
      applyPatch,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { 'a/b': '1' } },
      { headers: { 'impersonate-user': 'carol' } },
    ),
    put(
      'update nothing',
      grouped('coordination.k8s.io/v1', 'leases/l'),
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } },
      { headers: { 'impersonate-user': 'carol' } },
    ),
  ),
  test(
    'roles for one object and for a namespace itself',
    ...roleFor('dora', 'one', [
      {
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['mine'],
        verbs: ['list', 'watch', 'deletecollection'],
      },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
      { apiGroups: [rbacGroup], resources: ['rolebindings'], verbs: ['create'] },
    ]),
    post('hers', core('configmaps'), configMap('mine', { a: '1' })),
    {
      does: 'poll',
      what: 'the role to be known',
      request: get('probe', core('configmaps?fieldSelector=metadata.name%3Dmine'), { headers: dora }),
      until: ({ status }) => status === 200,
    },
    ...[
      'metadata.name=mine',
      'metadata.name==mine,metadata.namespace={ns}',
      'metadata.name=other',
      'metadata.name!=mine',
      'metadata.namespace={ns}',
      'metadata.name=a/b',
      'metadata.name=',
      'nonsense',
      '',
    ].flatMap((selector) => {
      const query = `fieldSelector=${encodeURIComponent(selector).replaceAll('%7Bns%7D', '{ns}')}`;
      return [
        get(`list with ${selector}`, core(`configmaps?${query}`), { headers: dora }),
        get(`watch with ${selector}`, core(`configmaps?watch=true&timeoutSeconds=1&${query}`), {
          headers: dora,
          pick: ({ kind, message }: Json) => ({ kind, message }),
        }),
      ];
    }),
    del('delete with a name', core('configmaps?fieldSelector=metadata.name%3Dmine'), undefined, { headers: dora }),
    get('her namespace', '/api/v1/namespaces/{ns}', { headers: dora, pick: ({ kind }: Json) => kind }),
    get('another namespace', '/api/v1/namespaces/default', { headers: dora }),
    get('all namespaces', '/api/v1/namespaces', { headers: dora }),
    del('her namespace away', '/api/v1/namespaces/{ns}', undefined, { headers: dora }),
    patch('make a namespace', '/api/v1/namespaces/{ns}-b?fieldManager=dora', applyPatch, namespace, { headers: dora }),
    ...['Role', 'ClusterRole'].map((kind) =>
      post(
        `bind a ${kind} that is not there`,
        grouped(rbac, 'rolebindings'),
        {
          apiVersion: rbac,
          kind: 'RoleBinding',
          metadata: { name: 'early' },
          roleRef: { apiGroup: rbacGroup, kind, name: 'missing' },
          subjects: [{ kind: 'User', name: 'dora' }],
        },
        { headers: dora },
      ),
    ),
    post('bound by who may', grouped(rbac, 'rolebindings'), {
      apiVersion: rbac,
      kind: 'RoleBinding',
      metadata: { name: 'early' },
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'missing' },
      subjects: [{ kind: 'User', name: 'eve' }],
    }),
    {
      does: 'poll',
      what: 'the binding to be known',
      request: get('probe', core('configmaps'), { headers: { 'impersonate-user': 'eve' } }),
      until: ({ body }) => String(body.message).includes('not found'),
    },
    get('through a role that is not there', core('configmaps'), { headers: { 'impersonate-user': 'eve' } }),
  ),
  test(
    'tokens',
    post('account', core('serviceaccounts'), { metadata: { name: 'robot' } }),
    post(
      'token',
      core('serviceaccounts/robot/token'),
      { spec: {} },
      { save: { token: ({ status }: Json) => status.token } },
    ),
    post('review', '/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: '{token}' },
    }),
    post('review of another audience', '/apis/authentication.k8s.io/v1/tokenreviews', {
      spec: { token: '{token}', audiences: ['x'] },
    }),
    post('review of rubbish', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'abc' } }),
    post('review of nothing', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} }),
    get('as the robot', core('configmaps'), { headers: { authorization: 'Bearer {token}', 'impersonate-user': '' } }),
    get('with a bad token', core('configmaps'), { headers: { authorization: 'Bearer nonsense' } }),
  ),
];
