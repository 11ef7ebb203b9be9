import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type Cluster } from './cluster.ts';
import { configMap, testClient } from './test-client.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ port: 0, controllers: 'none' });
  const client = testClient(cluster);
  await client.post('/api/v1/namespaces/default/configmaps', configMap('a', { x: '1' }));
});
afterAll(() => cluster.stop());

const word = fc.oneof(
  fc.constantFrom('api', 'apis', 'v1', 'namespaces', 'default', 'configmaps', 'a', 'pods', 'apps', 'deployments'),
  fc.constantFrom('status', 'scale', 'watch', 'openapi', 'v3', '..', '%00', '%zz', '%2f', 'namespaces%20', '\u00e4'),
  fc.string({ maxLength: 8 }).map(encodeURIComponentSafely),
);

function encodeURIComponentSafely(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '%ff';
  }
}
const path = fc.oneof(
  fc.array(word, { maxLength: 8 }).map((words) => `/${words.join('/')}`),
  fc.constantFrom(
    '/api/v1/namespaces/default/configmaps',
    '/api/v1/namespaces/default/configmaps/a',
    '/apis/apps/v1/namespaces/default/deployments',
    '/apis/apps/v1/namespaces/default/deployments/a/scale',
    '/api/v1/namespaces/default/pods/a/binding',
    '/api/v1/namespaces/default/pods',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  ),
);
const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      'labelSelector',
      'fieldSelector',
      'limit',
      'continue',
      'resourceVersionMatch',
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
      'gracePeriodSeconds',
      'propagationPolicy',
      'pretty',
      'includeObject',
    ),
    fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom('1', '-1', 'true', 'a in (', '!', 'a=b,,', 'Exact', '999999999999999999999'),
    ),
  ),
  { maxLength: 3 },
);
const json = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      apiVersion: fc.oneof(fc.constantFrom('v1', 'apps/v1', 'apiextensions.k8s.io/v1'), fc.jsonValue()),
      kind: fc.oneof(fc.constantFrom('ConfigMap', 'Deployment', 'Pod'), fc.jsonValue()),
      metadata: fc.oneof(
        fc.jsonValue(),
        fc.record(
          {
            name: fc.oneof(fc.constant('a'), fc.jsonValue()),
            labels: fc.jsonValue(),
            finalizers: fc.jsonValue(),
            ownerReferences: fc.jsonValue(),
            managedFields: fc.jsonValue(),
            resourceVersion: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
      ),
      spec: fc.oneof(
        fc.jsonValue(),
        fc.record(
          {
            template: fc.jsonValue(),
            containers: fc.jsonValue(),
            selector: fc.jsonValue(),
            versions: fc.jsonValue(),
            replicas: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
      ),
      data: fc.jsonValue(),
      status: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
  fc.array(
    fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
      path: fc.string(),
      value: fc.jsonValue(),
    }),
    { maxLength: 3 },
  ),
);
const body = fc.oneof(
  json.map((value) => Buffer.from(JSON.stringify(value))),
  json.map((value) => Buffer.from(JSON.stringify(value).slice(0, -1))),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.concat([Buffer.from('k8s\0'), bytes])),
);
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  path,
  query,
  accept: fc.constantFrom(
    '',
    'application/json',
    'application/yaml',
    'text/html',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    ';;,',
  ),
  contentType: fc.constantFrom(
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
    'text/plain',
    '',
  ),
  body,
});

it('whatever is sent, the answer is an answer and the server goes on', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path: to, query: pairs, accept, contentType, body: bytes }) => {
      const search = new URLSearchParams(pairs).toString();
      const answer = await cluster.server.handle({
        method,
        path: search ? `${to}?${search}` : to,
        headers: { accept, 'content-type': contentType },
        ...(method === 'GET' ? {} : { body: bytes }),
      });
      expect(answer.status).toBeGreaterThanOrEqual(200);
      expect(answer.status).toBeLessThan(600);
      const text = Buffer.from(answer.body ?? []).toString();
      if (answer.headers['content-type'] === 'application/json' && text) {
        const parsed = JSON.parse(text) as { kind?: string; code?: number; reason?: string; message?: string };
        if (answer.status >= 400) expect(parsed).toMatchObject({ kind: 'Status', code: answer.status });
        // An internal error is a mistake of ours that somebody else has to read.
        expect(parsed.reason === 'InternalError' ? parsed.message : undefined).toBeUndefined();
      }
    }),
    { numRuns: 1_500 },
  );
  expect((await testClient(cluster).get('/healthz')).text).toBe('ok');
});

it('deep nesting is refused, not followed into the ground', async () => {
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  const client = testClient(cluster);
  for (const [method, type] of [
    ['POST', 'application/json'],
    ['PATCH', 'application/merge-patch+json'],
  ] as const) {
    const to = method === 'POST' ? '/api/v1/namespaces/default/configmaps' : '/api/v1/namespaces/default/configmaps/a';
    const answer = await client.send(method, to, deep, { 'content-type': type });
    expect(answer.status).toBe(400);
  }
});
