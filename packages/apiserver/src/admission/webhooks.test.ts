import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAuthCluster, type AuthCluster } from '../auth/auth.fixture.ts';
import { startWebhookServer, type Review, type WebhookServer } from './webhook-server.fixture.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
const CONFIG_MAPS = '/api/v1/namespaces/wh1/configmaps';

let hook: WebhookServer;
beforeAll(async () => {
  hook = await startWebhookServer();
});
afterAll(() => hook[Symbol.asyncDispose]());

async function prepared(options: Parameters<typeof startAuthCluster>[0] = {}): Promise<AuthCluster> {
  hook.received.length = 0;
  const setup = await startAuthCluster(options);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'wh1', labels: { wh: 'on' } } };
  await setup.admin.post('/api/v1/namespaces', namespace);
  return setup;
}

function webhook(path: string, extra: object = {}, name = 'a.example.com') {
  return {
    name,
    clientConfig: { url: hook.url + path, caBundle: hook.caBundle },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...extra,
  };
}

async function register(
  setup: AuthCluster,
  kind: 'Validating' | 'Mutating',
  webhooks: object[],
  name = 'wh',
): Promise<void> {
  const plural = `${kind.toLowerCase()}webhookconfigurations`;
  const { status, body } = await setup.admin.post(`${CONFIGURATIONS}/${plural}`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks,
  });
  expect([status, body['message']]).toEqual([201, undefined]);
}

function configMap(name: string, extra: object = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...extra }, data: { a: '1' } };
}

function patched(...operations: object[]) {
  return {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  };
}

test('a bundle that holds the certificate of the webhook alone is trusted', async () => {
  await using setup = await prepared();
  hook.on('/allow', () => ({ allowed: true }));
  const clientConfig = { url: `${hook.url}/allow`, caBundle: hook.leafBundle };
  await register(setup, 'Validating', [webhook('/allow', { clientConfig })]);
  expect((await setup.admin.post(CONFIG_MAPS, configMap('a'))).body['message']).toBeUndefined();
  expect(hook.received).toHaveLength(1);
});

test.each(['//allow', '/allow/', '//allow//'])('a webhook at %s is asked at /allow', async (path) => {
  await using setup = await prepared();
  hook.on('/allow', () => ({ allowed: true }));
  await register(setup, 'Validating', [webhook(path)]);
  expect((await setup.admin.post(CONFIG_MAPS, configMap('a'))).body['message']).toBeUndefined();
  expect(hook.received.map((request) => request.path)).toEqual(['/allow?timeout=10s']);
});

test('what a validating webhook gets on create, update, dry run and delete', async () => {
  await using setup = await prepared();
  hook.on('/allow', () => ({ allowed: true }));
  await register(setup, 'Validating', [webhook('/allow')]);
  expect((await setup.admin.post(CONFIG_MAPS, configMap('a'))).status).toBe(201);
  expect((await setup.admin.patch(`${CONFIG_MAPS}/a`, { data: { b: '2' } })).status).toBe(200);
  expect((await setup.admin.post(`${CONFIG_MAPS}?dryRun=All`, configMap('dr'))).status).toBe(201);
  expect((await setup.admin.remove(`${CONFIG_MAPS}/a`)).status).toBe(200);

  const [create, update, dryRun, remove] = hook.received.map(({ review }) => review['request'] as Review);
  expect(hook.received[0]!.path).toBe('/allow?timeout=10s');
  expect(hook.received[0]!.headers).toMatchObject({
    'content-type': 'application/json',
    accept: 'application/json, */*',
    'user-agent': 'kube-apiserver-admission',
  });
  expect(hook.received[0]!.review).toMatchObject({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' });
  expect(Object.keys(create!)).toEqual([
    'uid',
    'kind',
    'resource',
    'requestKind',
    'requestResource',
    'name',
    'namespace',
    'operation',
    'userInfo',
    'object',
    'oldObject',
    'dryRun',
    'options',
  ]);
  expect(create).toMatchObject({
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'a',
    namespace: 'wh1',
    operation: 'CREATE',
    userInfo: { groups: ['system:masters', 'system:authenticated'] },
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'wh1' }, data: { a: '1' } },
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  });
  expect(create!['object'].metadata.uid).toBeDefined();
  expect(create!['object'].metadata.resourceVersion).toBeUndefined();
  expect(update).toMatchObject({
    operation: 'UPDATE',
    object: { data: { a: '1', b: '2' } },
    oldObject: { data: { a: '1' } },
  });
  expect(dryRun).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } });
  expect(remove).toMatchObject({
    operation: 'DELETE',
    object: null,
    oldObject: { data: { a: '1', b: '2' } },
    options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  });
});

test('a denial carries the code, the reason, the causes and the warnings of the webhook', async () => {
  await using setup = await prepared();
  const status = {
    code: 422,
    reason: 'Invalid',
    message: 'bad field',
    details: { causes: [{ reason: 'FieldValueInvalid', message: 'nope', field: 'data.a' }] },
  };
  hook.on('/deny422', () => ({ allowed: false, status, warnings: ['careful'] }));
  await register(setup, 'Validating', [webhook('/deny422')]);
  const answer = await setup.admin.post(CONFIG_MAPS, configMap('d'));
  expect(answer.body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'admission webhook "a.example.com" denied the request: bad field',
    reason: 'Invalid',
    details: { causes: [{ reason: 'FieldValueInvalid', message: 'nope', field: 'data.a' }] },
    code: 422,
  });
  expect(answer.headers['warning']).toEqual(['299 - "careful"']);
});

test('a denial without a code is a 400, one without words says so', async () => {
  await using setup = await prepared();
  hook.on('/mute', () => ({ allowed: false }));
  await register(setup, 'Validating', [webhook('/mute')]);
  const answer = await setup.admin.post(CONFIG_MAPS, configMap('d'));
  expect([answer.status, answer.body['message']]).toEqual([
    400,
    'admission webhook "a.example.com" denied the request without explanation',
  ]);
});

test('failures of webhooks, told as the real server tells them, or ignored', async () => {
  await using setup = await prepared();
  hook.on('/500', () => 500);
  hook.on('/wronguid', () => ({ uid: 'zzz', allowed: true }));
  const cases: [object, RegExp][] = [
    [
      webhook('/500'),
      /^Internal error occurred: failed calling webhook "a\.example\.com": failed to call webhook: an error on the server \("boom"\) has prevented the request from succeeding$/,
    ],
    [
      webhook('/wronguid'),
      /^Internal error occurred: failed calling webhook "a\.example\.com": received invalid webhook response: expected response\.uid="[-0-9a-f]{36}", got "zzz"$/,
    ],
    [
      webhook('', { clientConfig: { url: 'https://127.0.0.1:1/none', caBundle: hook.caBundle } }),
      /^Internal error occurred: failed calling webhook "a\.example\.com": failed to call webhook: Post "https:\/\/127\.0\.0\.1:1\/none\?timeout=10s": dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
    ],
    [
      webhook('', { clientConfig: { url: `${hook.url}/allow` } }),
      /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
    ],
    [
      webhook('', { clientConfig: { service: { namespace: 'default', name: 'gone', path: '/x' } } }),
      /failed to call webhook: Post "https:\/\/gone\.default\.svc:443\/x": service "gone" not found$/,
    ],
  ];
  for (const [broken, message] of cases) {
    await register(setup, 'Validating', [broken]);
    const refused = await setup.admin.post(CONFIG_MAPS, configMap('d'));
    expect(refused.status).toBe(500);
    expect(refused.body['reason']).toBe('InternalError');
    expect(refused.body['message']).toMatch(message);
    expect(`Internal error occurred: ${refused.body['details'].causes[0].message}`).toBe(refused.body['message']);
    await setup.admin.remove(`${CONFIGURATIONS}/validatingwebhookconfigurations/wh`);

    await register(setup, 'Validating', [{ ...broken, failurePolicy: 'Ignore' }]);
    expect((await setup.admin.post(CONFIG_MAPS, configMap('d'))).status).toBe(201);
    await setup.admin.remove(`${CONFIGURATIONS}/validatingwebhookconfigurations/wh`);
    await setup.admin.remove(`${CONFIG_MAPS}/d`);
  }
});

test('a webhook that does not answer times out on the clock of the cluster', async () => {
  await using setup = await prepared();
  const arrived = new Promise<void>((resolve) => {
    hook.on('/slow', () => {
      resolve();
      return 'hang';
    });
  });
  await register(setup, 'Validating', [webhook('/slow', { timeoutSeconds: 1 })]);
  const waiting = setup.admin.post(CONFIG_MAPS, configMap('d'));
  await arrived;
  await setup.clock.advance(1_000);
  const { status, body } = await waiting;
  expect(status).toBe(500);
  expect(body['message']).toBe(
    `Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: Post "${hook.url}/slow?timeout=1s": context deadline exceeded`,
  );
});

test('selectors, rules and matchConditions decide who is asked', async () => {
  await using setup = await prepared();
  hook.on('/deny', () => ({ allowed: false, status: { code: 403, reason: 'Forbidden', message: 'no way' } }));
  const outcome = async (extra: object, object: object = configMap('x'), path = CONFIG_MAPS) => {
    await register(setup, 'Validating', [webhook('/deny', extra)]);
    const { status } = await setup.admin.post(path, object);
    await setup.admin.remove(`${CONFIGURATIONS}/validatingwebhookconfigurations/wh`);
    if (status === 201) {
      await setup.admin.remove(`${path}/${(object as { metadata: { name: string } }).metadata.name}`);
    }
    return status;
  };
  const conditions = [{ name: 'x', expression: "object.metadata.name.startsWith('x')" }];
  expect(await outcome({ matchConditions: conditions })).toBe(403);
  expect(await outcome({ matchConditions: conditions }, configMap('y'))).toBe(201);
  expect(await outcome({ matchConditions: [{ name: 'f', expression: 'object.nope == 1' }] })).toBe(403);
  expect(
    await outcome({ matchConditions: [{ name: 'f', expression: 'object.nope == 1' }], failurePolicy: 'Ignore' }),
  ).toBe(201);
  expect(await outcome({ matchConditions: [{ name: 'r', expression: "request.userInfo.username == 'nobody'" }] })).toBe(
    201,
  );
  expect(await outcome({ objectSelector: { matchLabels: { pick: 'me' } } })).toBe(201);
  expect(
    await outcome({ objectSelector: { matchLabels: { pick: 'me' } } }, configMap('x', { labels: { pick: 'me' } })),
  ).toBe(403);
  expect(await outcome({ namespaceSelector: { matchLabels: { wh: 'on' } } })).toBe(403);
  expect(await outcome({ namespaceSelector: { matchLabels: { wh: 'off' } } })).toBe(201);
  const rule = (extra: object) => ({
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'], ...extra }],
  });
  expect(await outcome(rule({ operations: ['DELETE'] }))).toBe(201);
  expect(await outcome(rule({ resources: ['*'] }))).toBe(403);
  expect(await outcome(rule({ resources: ['configmaps/*'] }))).toBe(403);
  expect(await outcome(rule({ resources: ['configmaps/status'] }))).toBe(201);
  expect(await outcome(rule({ scope: 'Cluster' }))).toBe(201);
  expect(await outcome(rule({ apiGroups: ['*'], apiVersions: ['*'] }))).toBe(403);
});

test('dry run reaches webhooks that promise to have no side effects then', async () => {
  await using setup = await prepared();
  hook.on('/allow', () => ({ allowed: true }));
  await register(setup, 'Validating', [webhook('/allow', { sideEffects: 'NoneOnDryRun' })]);
  expect((await setup.admin.post(`${CONFIG_MAPS}?dryRun=All`, configMap('d'))).status).toBe(201);
});

test('a mutating webhook changes the object, and nobody owns what it adds', async () => {
  await using setup = await prepared();
  hook.on('/mutate', () => ({
    ...patched({ op: 'add', path: '/metadata/labels', value: { injected: 'yes' } }),
    warnings: ['mutated'],
  }));
  await register(setup, 'Mutating', [webhook('/mutate')]);
  const { status, body, headers } = await setup.admin.post(CONFIG_MAPS, configMap('mut'));
  expect(status).toBe(201);
  expect(headers['warning']).toEqual(['299 - "mutated"']);
  expect(body['metadata'].labels).toEqual({ injected: 'yes' });
  expect(JSON.stringify(body['metadata'].managedFields)).not.toContain('injected');
  expect(hook.received[0]!.review['request'].object.metadata.uid).toBeUndefined();
});

test('a patch that does not fit is an internal error', async () => {
  await using setup = await prepared();
  hook.on('/badpatch', () => patched({ op: 'remove', path: '/nope' }));
  await register(setup, 'Mutating', [webhook('/badpatch')]);
  const { status, body } = await setup.admin.post(CONFIG_MAPS, configMap('bp'));
  expect(status).toBe(500);
  expect(body['message']).toBe(
    "Internal error occurred: error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value",
  );
});

test('mutating webhooks run in order of their names; IfNeeded ones again after a later change', async () => {
  await using setup = await prepared();
  const order: string[] = [];
  const count = (name: string) => (review: Review) => {
    order.push(name);
    const seen = Number(review['request'].object.metadata.annotations?.[name] ?? 0);
    const annotations = { ...review['request'].object.metadata.annotations, [name]: String(seen + 1) };
    return patched({ op: 'add', path: '/metadata/annotations', value: annotations });
  };
  hook.on('/first', count('first'));
  hook.on('/second', count('second'));
  await register(setup, 'Mutating', [webhook('/second', {}, 's.example.com')], 'b');
  await register(setup, 'Mutating', [webhook('/first', { reinvocationPolicy: 'IfNeeded' }, 'f.example.com')], 'a');
  const { body } = await setup.admin.post(CONFIG_MAPS, configMap('re'));
  expect(order).toEqual(['first', 'second', 'first']);
  expect(body['metadata'].annotations).toEqual({ first: '2', second: '1' });
});

test('a validating webhook sees what mutating ones made; configurations themselves are never sent', async () => {
  await using setup = await prepared();
  hook.on('/mutate', () => patched({ op: 'replace', path: '/data/a', value: 'changed' }));
  hook.on('/allow', () => ({ allowed: true }));
  const all = { rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }] };
  await register(setup, 'Mutating', [webhook('/mutate')], 'm');
  await register(setup, 'Validating', [webhook('/allow', all)], 'v');
  await setup.admin.post(CONFIG_MAPS, configMap('x'));
  const seen = hook.received.map(({ path, review }) => [path.split('?')[0], review['request'].object?.data?.a]);
  expect(seen).toEqual([
    ['/mutate', '1'],
    ['/allow', 'changed'],
  ]);
  hook.received.length = 0;
  await setup.admin.remove(`${CONFIGURATIONS}/mutatingwebhookconfigurations/m`);
  expect(hook.received).toEqual([]);
});

test('a webhook behind a Service is reached where the harness says', async () => {
  const asked: unknown[] = [];
  await using setup = await prepared({
    resolveService: (namespace, name, port) => {
      asked.push([namespace, name, port]);
      return { host: '127.0.0.1', port: hook.port };
    },
  });
  hook.on('/via-service', () => ({ allowed: true }));
  const clientConfig = {
    service: { namespace: 'default', name: 'hook', path: '/via-service', port: 8443 },
    caBundle: hook.caBundle,
  };
  await register(setup, 'Validating', [webhook('', { clientConfig })]);
  const { status, body } = await setup.admin.post(CONFIG_MAPS, configMap('s'));
  expect([status, body['message']]).toEqual([201, undefined]);
  expect(asked).toEqual([['default', 'hook', 8443]]);
  expect(hook.received[0]!.headers['host']).toBe('hook.default.svc:8443');
});

test('Equivalent webhooks see the version they asked for', async () => {
  await using setup = await prepared();
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  });
  await setup.admin.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [version('v1', true), version('v2', false)],
    },
  });
  hook.on('/mutate', () => patched({ op: 'add', path: '/metadata/labels', value: { seen: 'v1' } }));
  const rules = [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'] }];
  await register(setup, 'Mutating', [webhook('/mutate', { rules })]);
  const widget = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'w' } };
  const { status, body } = await setup.admin.post('/apis/example.com/v2/namespaces/wh1/widgets', widget);
  expect(status).toBe(201);
  expect(body).toMatchObject({ apiVersion: 'example.com/v2', metadata: { labels: { seen: 'v1' } } });
  expect(hook.received[0]!.review['request']).toMatchObject({
    kind: { group: 'example.com', version: 'v1', kind: 'Widget' },
    requestKind: { group: 'example.com', version: 'v2', kind: 'Widget' },
    object: { apiVersion: 'example.com/v1' },
  });
});
