import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../index.ts';
import { testClient, type TestClient } from '../test-client.ts';

let cluster: Cluster;
let client: TestClient;
beforeAll(async () => {
  cluster = await startCluster({ controllers: 'none' });
  client = testClient(cluster);
});
afterAll(() => cluster.stop());

const MiB = 1024 * 1024;
const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
const role = (name: string, bytes: number, character = 'x') => ({
  metadata: { name },
  rules: [{ apiGroups: [''], resources: ['pods'], resourceNames: [character.repeat(bytes)], verbs: ['get'] }],
});

it.each([
  ['1.6 MiB', role('a', 1.6 * MiB), 'etcdserver: request is too large'],
  ['1.6 MiB in fewer characters', role('a', 0.8 * MiB, 'ä'), 'etcdserver: request is too large'],
  ['2.2 MiB', role('a', 2.2 * MiB), expect.stringContaining('trying to send message larger than max')],
])('an object of %s is not stored', async (_, object, message) => {
  const { revision } = cluster;
  const { status, body } = await client.post(roles, object);
  expect({ status, message: body.message, reason: body.reason }).toEqual({ status: 500, message, reason: undefined });
  expect(cluster.revision).toBe(revision);
});

it('an object does not grow beyond the limit piece by piece', async () => {
  expect((await client.post(roles, role('growing', 1.2 * MiB))).status).toBe(201);
  const grow = (more: number) =>
    client.patch(`${roles}/growing`, 'application/json-patch+json', [
      { op: 'add', path: '/rules/0/resourceNames/-', value: 'y'.repeat(more) },
    ]);
  expect((await grow(0.2 * MiB)).status).toBe(200);
  expect((await grow(0.2 * MiB)).body.message).toBe('etcdserver: request is too large');
});

it('a dry run stores nothing, and so takes what is too large to store', async () => {
  expect((await client.post(`${roles}?dryRun=All`, role('dry', 1.6 * MiB))).status).toBe(201);
});
