import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type ApiObject, type Cluster } from '../../src/index.ts';
import { testClient, type TestClient } from '../../src/test-client.ts';
import { anySpec } from './operations.ts';
import { anythingCrd } from './widget-crd.ts';

const collection = '/apis/property.example.com/v1/namespaces/default/anythings';

let cluster: Cluster;
let client: TestClient;
beforeAll(async () => {
  cluster = await startCluster({ controllers: 'none', crds: [anythingCrd as unknown as ApiObject] });
  client = testClient(cluster);
});
afterAll(() => cluster.stop());

function anything(name: string, spec: unknown, metadata: object = {}): object {
  return { apiVersion: 'property.example.com/v1', kind: 'Anything', metadata: { name, ...metadata }, spec };
}

/**
 * RFC 7396, written down once more: the server's own must not judge itself. As on the real server, objects inside of a list lose
 * their nulls too.
 */
function merged(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.map((item) => merged(undefined, item));
  if (typeof patch !== 'object' || patch === null) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

const writes = fc.array(fc.record({ how: fc.constantFrom('put', 'merge', 'json'), spec: anySpec }), { maxLength: 6 });

it('what was written is what is read, empty values and all', { timeout: 300_000 }, async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(anySpec, writes, async (first, rest) => {
      run += 1;
      const path = `${collection}/a${run}`;
      let expected: unknown = first;
      const created = await client.post(collection, anything(`a${run}`, first));
      expect(created.body['spec']).toEqual(expected);
      for (const { how, spec } of rest) {
        const { resourceVersion } = (await client.get(path)).body.metadata;
        const answer =
          how === 'put'
            ? await client.put(path, anything(`a${run}`, spec, { resourceVersion }))
            : how === 'merge'
              ? await client.merge(path, { spec })
              : await client.patch(path, 'application/json-patch+json', [{ op: 'add', path: '/spec', value: spec }]);
        expect(answer.status).toBe(200);
        expected = how === 'merge' ? merged(expected, spec) : spec;
        expect(answer.body['spec']).toEqual(expected);
        expect((await client.get(path)).body['spec']).toEqual(expected);
      }
    }),
    { seed: 20_261_115, numRuns: 100 },
  );
});

it('who applies less owns less, when only the ownership of empty leaves changes', async () => {
  const apply = (manager: string, spec: object) =>
    client.patch(
      `${collection}/shared?fieldManager=${manager}`,
      'application/apply-patch+yaml',
      anything('shared', spec),
    );
  await apply('one', { a: 1, b: 1 });
  await apply('two', { b: 1 });
  await apply('one', { a: 1 });
  const { body } = await client.get(`${collection}/shared`);
  const owned = body.metadata.managedFields!.map(({ manager, fieldsV1 }) => [manager, fieldsV1]);
  expect(Object.fromEntries(owned)).toEqual({ one: { 'f:spec': { 'f:a': {} } }, two: { 'f:spec': { 'f:b': {} } } });
});

it('a CRD that only gains its status subresource has one', async () => {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const subresources = { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } };
  const [version] = anythingCrd.spec.versions;
  const names = { plural: 'growings', kind: 'Growing' };
  await client.post(crds, {
    ...anythingCrd,
    metadata: { name: 'growings.property.example.com' },
    spec: { ...anythingCrd.spec, names, versions: [{ ...version, subresources }] },
  });
  await client.patch(`${crds}/growings.property.example.com`, 'application/json-patch+json', [
    { op: 'add', path: '/spec/versions/0/subresources/status', value: {} },
  ]);
  const { body } = await client.get('/apis/property.example.com/v1');
  const served = (body as unknown as { resources: { name: string }[] }).resources.map(({ name }) => name);
  expect(served).toContain('growings/status');
});
