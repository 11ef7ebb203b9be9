import { afterEach, expect, it } from 'vitest';
import { attackedServer, type AttackedServer } from './attacked-server.ts';

let server: AttackedServer | undefined;
afterEach(() => server?.[Symbol.asyncDispose]());

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
const spec = { replicas: 1, selector: { matchLabels: labels }, template };
const headers = { 'content-type': 'application/json' };

async function post(path: string, object: object): Promise<void> {
  const { status, text } = await server!.call({ method: 'POST', path, headers, body: JSON.stringify(object) });
  expect({ status, text }).toMatchObject({ status: 201 });
}

const inApps = (plural: string) => `/apis/apps/v1/namespaces/default/${plural}`;
const revisionOf = async (path: string) => {
  const { text } = await server!.call({ path });
  return Number((JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
};

it.each([
  ['a Deployment and ReplicaSets', ['replicasets', 'deployments', 'replicasets']],
  ['two Deployments', ['deployments', 'deployments']],
  ['two ReplicaSets and a StatefulSet', ['replicasets', 'replicasets', 'statefulsets']],
] as const)('%s with the same labels and template leave the server answering, and come to rest', async (_, plurals) => {
  server = await attackedServer({ controllers: 'workloads' });
  const kinds = { replicasets: 'ReplicaSet', deployments: 'Deployment', statefulsets: 'StatefulSet' };
  for (const [index, plural] of plurals.entries()) {
    const kind = kinds[plural];
    await post(inApps(plural), {
      apiVersion: 'apps/v1',
      kind,
      metadata: { name: `w${index}`, labels },
      spec: { ...spec, ...(plural === 'statefulsets' ? { serviceName: 'web' } : {}) },
    });
  }
  let before = -1;
  for (let same = 0; same < 5;) {
    const now = await revisionOf(inApps('deployments'));
    same = now === before ? same + 1 : 0;
    before = now;
  }
  expect(server.ended).toBeUndefined();
  // Rest by agreement, not by being slowed down after a thousand rounds.
  expect(before).toBeLessThan(500);
});
