import { beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../cluster.ts';
import { configMap, testClient, type TestClient } from '../test-client.ts';

const path = '/api/v1/namespaces/n/configmaps';
let cluster: Cluster;
let client: TestClient;

beforeAll(async () => {
  cluster = await startCluster({ controllers: 'none' });
  client = testClient(cluster);
  await client.post('/api/v1/namespaces', { metadata: { name: 'n' } });
  return () => cluster.stop();
});

describe('who owns the fields', () => {
  it('is stored when a patch changes nothing else', async () => {
    const created = await client.post(`${path}?fieldManager=mgr-a`, configMap('owners', { a: '1' }));
    const operations = [{ op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Apply' }];
    const { body } = await client.send('PATCH', `${path}/owners`, operations, {
      'content-type': 'application/json-patch+json',
    });
    expect(body.metadata.resourceVersion).not.toBe(created.body.metadata.resourceVersion);
    expect(body.metadata.managedFields).toMatchObject([{ manager: 'mgr-a', operation: 'Apply' }]);
  });
});

describe('create', () => {
  it('fills in what only the server knows', async () => {
    const { status, body } = await client.post(`${path}?fieldManager=mgr-a`, configMap('full', { a: '1' }));
    expect(status).toBe(201);
    expect(body.metadata).toMatchObject({
      namespace: 'n',
      uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/) as string,
      creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
      managedFields: [
        { manager: 'mgr-a', operation: 'Update', apiVersion: 'v1', fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } } },
      ],
    });
    expect(body.metadata).not.toHaveProperty('generation');
  });

  it('takes the field manager from the user agent', async () => {
    const { body } = await client.send('POST', path, configMap('agent', { a: '1' }), {
      'user-agent': 'my-operator/v1.2 (linux/amd64) xyz',
    });
    expect(body.metadata.managedFields![0]!.manager).toBe('my-operator');
  });

  it('generates names', async () => {
    const { body } = await client.post(path, { metadata: { generateName: 'gen-' } });
    expect(body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const long = await client.post(path, { metadata: { generateName: 'x'.repeat(70) } });
    expect(long.body.metadata.name).toHaveLength(63);
  });

  it('in a dry run answers everything but a version, and stores nothing', async () => {
    const before = cluster.revision;
    const { status, body } = await client.post(`${path}?dryRun=All`, configMap('dry'));
    expect(status).toBe(201);
    expect(body.metadata.uid).toBeDefined();
    expect(body.metadata).not.toHaveProperty('resourceVersion');
    expect(cluster.revision).toBe(before);
    expect((await client.get(`${path}/dry`)).status).toBe(404);
  });

  it('warns about fields it does not know, refuses them when asked to', async () => {
    const unknown = { ...configMap('unknown'), datax: {} };
    const warned = await client.post(path, unknown);
    expect(warned.status).toBe(201);
    expect(warned.headers['warning']).toEqual(['299 - "unknown field \\"datax\\""']);
    const strict = await client.post(`${path}?fieldValidation=Strict`, unknown);
    expect(strict.body.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datax"',
    );
    const ignored = await client.post(`${path}?fieldValidation=Ignore`, { ...unknown, metadata: { name: 'ignored' } });
    expect(ignored.headers).not.toHaveProperty('warning');
  });

  it.each([
    ['twice', configMap('full'), 409, 'configmaps "full" already exists'],
    [
      'with a version',
      configMap('v', {}, { resourceVersion: '5' }),
      500,
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'with another namespace',
      configMap('o', {}, { namespace: 'other' }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'without a name',
      { metadata: {} },
      422,
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ],
  ])('%s is refused', async (_case, body, status, message) => {
    const answer = await client.post(path, body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toBe(message);
  });

  it.each([
    [
      'fieldValidation=Nope',
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Nope": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [
      'dryRun=Maybe',
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Maybe"]: supported values: "All"',
    ],
  ])('?%s is refused', async (query, message) => {
    const answer = await client.post(`${path}?${query}`, configMap('zzz'));
    expect(answer.status).toBe(422);
    expect(answer.body.message).toBe(message);
  });
});

describe('update', () => {
  it('needs no version, but respects one', async () => {
    await client.post(path, configMap('u', { a: '1' }));
    const stale = await client.put(`${path}/u`, configMap('u', { a: '2' }, { resourceVersion: '1' }));
    expect(stale.status).toBe(409);
    expect(stale.body).toMatchObject({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "u": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'u', kind: 'configmaps' },
    });
    const free = await client.put(`${path}/u`, configMap('u', { a: '2' }));
    expect(free.body['data']).toEqual({ a: '2' });
    const exact = await client.put(`${path}/u`, { ...free.body, data: { a: '3' } });
    expect(exact.status).toBe(200);
  });

  it('that changes nothing writes nothing, whoever sends it', async () => {
    const first = await client.put(`${path}/u?fieldManager=one`, configMap('u', { a: '3' }));
    const before = cluster.revision;
    const again = await client.put(`${path}/u?fieldManager=two`, configMap('u', { a: '3' }));
    expect(again.body).toEqual(first.body);
    expect(cluster.revision).toBe(before);
  });

  it('cannot touch what only the server writes', async () => {
    const { body } = await client.put(
      `${path}/u`,
      configMap('u', { a: '4' }, { creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x', generation: 7 }),
    );
    expect(body['data']).toEqual({ a: '4' });
    expect(body.metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
    expect(body.metadata).not.toHaveProperty('generation');
  });

  it('of another object with the same name is refused', async () => {
    const uid = '11111111-1111-1111-1111-111111111111';
    const { status, body } = await client.put(`${path}/u`, configMap('u', {}, { uid }));
    expect(status).toBe(409);
    expect(body.message).toContain(
      `Key: /registry/configmaps/n/u, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}`,
    );
  });

  it('of nothing is 404, except for kinds that are created by it', async () => {
    expect((await client.put(`${path}/never`, configMap('never'))).status).toBe(404);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/n/leases';
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me', leaseDurationSeconds: 5 } };
    expect((await client.put(`${leases}/l`, lease)).status).toBe(201);
    const blind = await client.put(`${leases}/l`, lease);
    expect(blind.status).toBe(422);
    expect(blind.body).toMatchObject({
      message:
        'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      details: { kind: 'leases' },
    });
  });

  it('with the name of another object is a bad request', async () => {
    const { body } = await client.put(`${path}/u`, configMap('v'));
    expect(body.message).toBe('the name of the object (v) does not match the name on the URL (u)');
  });
});

describe('patch', () => {
  it('comes in four kinds', async () => {
    const at = `${path}/p`;
    await client.post(path, configMap('p', { a: '1' }));
    expect((await client.merge(at, { data: { a: null, b: '1' } })).body['data']).toEqual({ b: '1' });
    const json = await client.patch(at, 'application/json-patch+json', [
      { op: 'test', path: '/data/b', value: '1' },
      { op: 'add', path: '/data/c', value: 'x' },
    ]);
    expect(json.body['data']).toEqual({ b: '1', c: 'x' });
    const strategic = await client.patch(at, 'application/strategic-merge-patch+json', { data: { d: '1' } });
    expect(strategic.body['data']).toEqual({ b: '1', c: 'x', d: '1' });
    const applied = await client.patch(
      `${at}?fieldManager=me`,
      'application/apply-patch+yaml',
      configMap('p', { e: '1' }),
    );
    expect(applied.status).toBe(200);
    expect(applied.body.metadata.managedFields!.some(({ operation }) => operation === 'Apply')).toBe(true);
  });

  it('that does not fit shows the object with its metadata in the usual order', async () => {
    await client.post(path, configMap('order', { a: '1' }));
    const { body } = await client.merge(`${path}/order`, { data: { a: 1 } });
    expect(body.message).toMatch(/\\"uid\\":\\"[^"]+\\",\\"resourceVersion\\":\\"\d+\\",\\"creationTimestamp\\"/);
  });

  it('applied to nothing creates', async () => {
    const { status } = await client.patch(
      `${path}/new?fieldManager=me`,
      'application/apply-patch+yaml',
      configMap('new'),
    );
    expect(status).toBe(201);
    const merge = await client.merge(`${path}/none`, {});
    expect(merge.status).toBe(404);
  });

  it('a refused patch leaves the stored object as it was', async () => {
    const before = (await client.get(`${path}/p`)).body;
    const refused = await client.merge(`${path}/p`, { metadata: { labels: { 'bad key': 'x' } } });
    expect(refused.status).toBe(422);
    expect((await client.get(`${path}/p`)).body).toEqual(before);
  });

  it.each([
    ['application/json', {}, 415, '415: Unsupported Media Type'],
    [
      'application/merge-patch+json',
      { metadata: { name: 'other' } },
      400,
      'the name of the object (other) does not match the name on the URL (p)',
    ],
    [
      'application/merge-patch+json',
      { metadata: { resourceVersion: '1' }, data: { z: '1' } },
      409,
      'Operation cannot be fulfilled on configmaps "p": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [
      'application/json-patch+json',
      [{ op: 'test', path: '/data/b', value: 'no' }],
      422,
      'the server rejected our request due to an error in our request',
    ],
  ])('%s %o → %i', async (type, body, status, message) => {
    const answer = await client.patch(`${path}/p`, type, body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toBe(message);
  });

  it('many writers of one object all get through', async () => {
    await client.post(path, configMap('busy'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => client.merge(`${path}/busy`, { data: { [`k${index}`]: 'x' } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(Object.keys((await client.get(`${path}/busy`)).body['data'] as object)).toHaveLength(20);
  });
});

describe('status and scale', () => {
  const deployments = '/apis/apps/v1/namespaces/n/deployments';
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } },
    },
    status: { replicas: 9 },
  };

  it('the object cannot write its status, the status cannot write the object', async () => {
    const created = await client.post(deployments, deployment);
    expect(created.body).toMatchObject({ metadata: { generation: 1 }, status: {} });
    expect(created.body['status']).not.toHaveProperty('replicas');
    const status = await client.merge(`${deployments}/web/status`, { spec: { replicas: 5 }, status: { replicas: 2 } });
    expect(status.body).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 1 }, status: { replicas: 2 } });
    const main = await client.merge(`${deployments}/web`, { status: { replicas: 7 }, spec: { replicas: 3 } });
    expect(main.body).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 3 }, status: { replicas: 2 } });
  });

  it('scale reads and writes the replicas', async () => {
    const scale = await client.get(`${deployments}/web/scale`);
    expect(scale.body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 3 },
      status: { replicas: 2, selector: 'app=web' },
    });
    const scaled = await client.merge(`${deployments}/web/scale`, { spec: { replicas: 4 } });
    expect(scaled.body['spec']).toEqual({ replicas: 4 });
    expect((await client.get(`${deployments}/web`)).body).toMatchObject({
      metadata: { generation: 3 },
      spec: { replicas: 4 },
    });
    const negative = await client.merge(`${deployments}/web/scale`, { spec: { replicas: -1 } });
    expect(negative.status).toBe(422);
  });
});

describe('what is not there or not allowed', () => {
  it.each([
    ['GET', `${path}/nope`, 404, 'configmaps "nope" not found'],
    ['GET', '/api/v1/namespaces/n/foobars/x', 404, 'the server could not find the requested resource'],
    ['GET', '/apis/apps/v7/deployments', 404, 'the server could not find the requested resource'],
    ['POST', `${path}/c1`, 405, 'the server does not allow this method on the requested resource'],
    ['PUT', path, 405, 'the server does not allow this method on the requested resource'],
    ['GET', '/api/v1/namespaces/n/pods/p/log', 404, 'pods "p" not found'],
  ] as const)('%s %s → %i', async (method, url, status, message) => {
    const answer = await client.send(method, url, method === 'GET' ? undefined : configMap('c1'));
    expect(answer.status).toBe(status);
    expect(answer.body.message).toBe(message);
  });

  it('an unknown group is not even JSON', async () => {
    const answer = await client.get('/apis/nope.example.com/v1/foos');
    expect(answer.status).toBe(404);
    expect(answer.text).toBe('404 page not found\n');
  });

  it('what is not built says so', async () => {
    await client.post('/api/v1/namespaces/n/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'x' }] },
    });
    const answer = await client.get('/api/v1/namespaces/n/pods/p/log');
    expect(answer.status).toBe(501);
    expect(answer.body.message).toBe('get pods/log is not implemented by the embedded API server');
  });

  it('a body over 3 MiB is too large', async () => {
    const answer = await client.post(path, configMap('big', { a: 'x'.repeat(3_300_000) }));
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: limit is 3145728',
    });
  });
});
