import { expect, test } from 'vitest';
import { startAuthCluster, type AuthCluster } from './auth.fixture.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

async function prepared(): Promise<AuthCluster> {
  const setup = await startAuthCluster({ authorization: 'RBAC' });
  const { admin } = setup;
  await admin.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'au1' } });
  return setup;
}

async function grant(setup: AuthCluster, rules: object[], subject: object = { kind: 'User', name: 'alice' }) {
  const { admin } = setup;
  const role = await admin.post(`${RBAC}/namespaces/au1/roles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'r' },
    rules,
  });
  expect(role.status).toBe(201);
  const binding = await admin.post(`${RBAC}/namespaces/au1/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'rb' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    subjects: [subject],
  });
  expect(binding.status).toBe(201);
}

test('five shapes of no', async () => {
  await using setup = await prepared();
  const bob = setup.as('bob');
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } };
  const answers = [
    await bob.get('/api/v1/namespaces/au1/pods'),
    await bob.get('/api/v1/nodes/n1'),
    await bob.get('/apis/apps/v1/namespaces/au1/deployments/d1'),
    await bob.post('/apis/apps/v1/namespaces/au1/deployments', deployment),
    await bob.get('/metrics'),
  ];
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(403));
  expect(answers.map(({ body }) => [body['message'], body['details']])).toEqual([
    [
      'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "au1"',
      { kind: 'pods' },
    ],
    [
      'nodes "n1" is forbidden: User "bob" cannot get resource "nodes" in API group "" at the cluster scope',
      { name: 'n1', kind: 'nodes' },
    ],
    [
      'deployments.apps "d1" is forbidden: User "bob" cannot get resource "deployments" in API group "apps" in the namespace "au1"',
      { name: 'd1', group: 'apps', kind: 'deployments' },
    ],
    [
      'deployments.apps is forbidden: User "bob" cannot create resource "deployments" in API group "apps" in the namespace "au1"',
      { group: 'apps', kind: 'deployments' },
    ],
    ['forbidden: User "bob" cannot get path "/metrics"', {}],
  ]);
});

test('a role allows its verbs in its namespace, and nothing else', async () => {
  await using setup = await prepared();
  await grant(setup, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]);
  const alice = setup.as('alice');
  expect((await alice.get('/api/v1/namespaces/au1/configmaps')).status).toBe(200);
  expect((await alice.get('/api/v1/namespaces/default/configmaps')).status).toBe(403);
  expect((await alice.get('/api/v1/configmaps')).status).toBe(403);
  expect((await alice.get('/api/v1/namespaces/au1/secrets')).status).toBe(403);
  expect((await alice.remove('/api/v1/namespaces/au1/configmaps/x')).status).toBe(403);
});

test('resource names, subresources and wildcards', async () => {
  await using setup = await prepared();
  await grant(setup, [
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['*'] },
    { apiGroups: ['apps'], resources: ['*/scale'], verbs: ['get'] },
    { apiGroups: ['batch'], resources: ['*'], verbs: ['list'] },
  ]);
  const alice = setup.as('alice');
  const reachable = async (path: string) => (await alice.get(path)).status !== 403;
  expect(await reachable('/api/v1/namespaces/au1/secrets/mine')).toBe(true);
  expect(await reachable('/api/v1/namespaces/au1/secrets/other')).toBe(false);
  expect(await reachable('/api/v1/namespaces/au1/secrets')).toBe(false);
  expect(await reachable('/apis/apps/v1/namespaces/au1/deployments/d/scale')).toBe(true);
  expect(await reachable('/apis/apps/v1/namespaces/au1/deployments/d')).toBe(false);
  expect(await reachable('/apis/batch/v1/namespaces/au1/jobs')).toBe(true);
  expect(await reachable('/apis/batch/v1/namespaces/au1/cronjobs')).toBe(true);
});

test('groups and ServiceAccounts are subjects, too', async () => {
  await using setup = await prepared();
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }];
  await grant(setup, rules, { kind: 'ServiceAccount', name: 'robot', namespace: 'au1' });
  const robot = setup.as('system:serviceaccount:au1:robot', 'system:serviceaccounts');
  expect((await robot.get('/api/v1/namespaces/au1/pods')).status).toBe(200);
  const other = setup.as('system:serviceaccount:default:robot', 'system:serviceaccounts');
  expect((await other.get('/api/v1/namespaces/au1/pods')).status).toBe(403);
});

test('everyone may discover, anonymous people only see health and version', async () => {
  await using setup = await prepared();
  const bob = setup.as('bob');
  expect((await bob.get('/apis')).status).toBe(200);
  expect((await bob.get('/version')).status).toBe(200);
  const nobody = setup.cluster.transportFor({ user: { name: 'system:anonymous', groups: ['system:unauthenticated'] } });
  const status = async (path: string) => (await nobody.send({ method: 'GET', path })).status;
  expect(await status('/version')).toBe(200);
  expect(await status('/healthz')).toBe(200);
  expect(await status('/apis')).toBe(403);
});

test('reviews say yes with the reason and no without one', async () => {
  await using setup = await prepared();
  await grant(setup, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]);
  const review = async (resource: string) => {
    const { status, body } = await setup.admin.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'alice',
        groups: ['devs'],
        resourceAttributes: { namespace: 'au1', verb: 'get', resource },
      },
    });
    expect(status).toBe(201);
    return body['status'] as object;
  };
  expect(await review('pods')).toEqual({ allowed: false });
  expect(await review('configmaps')).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "rb/au1" of Role "r" to User "alice"',
  });
  const self = await setup.as('alice').post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { nonResourceAttributes: { path: '/metrics', verb: 'get' } },
  });
  expect(self.body['status']).toEqual({ allowed: false });
  const bad = await setup.admin.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
  });
  expect(bad.status).toBe(422);
});

test('a rules review lists what somebody may do', async () => {
  await using setup = await prepared();
  const { body } = await setup.admin.post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'au1' },
  });
  expect(body['status']['resourceRules']).toContainEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
  expect(body['status']['nonResourceRules']).toContainEqual({
    verbs: ['get'],
    nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'],
  });
  expect(body['status']['incomplete']).toBe(false);
});

test('nobody grants what they do not have', async () => {
  await using setup = await prepared();
  await grant(setup, [
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['create', 'update'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
  ]);
  const alice = setup.as('alice', 'devs');
  const role = (name: string, rules: object[]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name },
    rules,
  });
  const path = `${RBAC}/namespaces/au1/roles`;
  const held = await alice.post(path, role('held', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]));
  expect(held.status).toBe(201);
  const more = await alice.post(
    path,
    role('more', [{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'delete'] }]),
  );
  expect(more.status).toBe(403);
  expect(more.body['message']).toBe(
    'roles.rbac.authorization.k8s.io "more" is forbidden: user "alice" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
  );
  const binding = await alice.post(`${RBAC}/namespaces/au1/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'up' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  expect(binding.status).toBe(403);
  expect(binding.body['message']).toMatch(
    /^rolebindings\.rbac\.authorization\.k8s\.io "up" is forbidden: user "alice"/,
  );
});

test('`escalate` and `bind` lift that', async () => {
  await using setup = await prepared();
  await grant(setup, [
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create', 'escalate'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['create'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], resourceNames: ['view'], verbs: ['bind'] },
  ]);
  const alice = setup.as('alice');
  const role = await alice.post(`${RBAC}/namespaces/au1/roles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'all' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  });
  expect(role.status).toBe(201);
  const bind = (name: string) =>
    alice.post(`${RBAC}/namespaces/au1/rolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: 'alice' }],
    });
  expect((await bind('view')).status).toBe(201);
  expect((await bind('edit')).status).toBe(403);
});

test('impersonation needs permission and brings the rights of the other', async () => {
  await using setup = await prepared();
  await grant(setup, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]);
  const path = '/api/v1/namespaces/au1/configmaps';
  expect((await setup.admin.get(path, { 'impersonate-user': 'alice' })).status).toBe(200);
  const asBob = await setup.admin.get('/api/v1/namespaces/au1/pods', { 'impersonate-user': 'bob' });
  expect(asBob.body['message']).toBe(
    'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "au1"',
  );
  const refused = await setup.as('bob').get(path, { 'impersonate-user': 'alice' });
  expect(refused.status).toBe(403);
  expect(refused.body['message']).toBe(
    'users "alice" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
  const who = await setup.admin.post(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    { 'impersonate-user': 'system:serviceaccount:au1:robot', 'impersonate-extra-scopes': 'view' },
  );
  expect(who.body['status']).toEqual({
    userInfo: {
      username: 'system:serviceaccount:au1:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:au1', 'system:authenticated'],
      extra: { scopes: ['view'] },
    },
  });
});
