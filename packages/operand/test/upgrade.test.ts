import { join } from 'node:path';
import { ConfigMap, Deployment, isConditionTrue, Namespace, type KubeObject } from '@slipway/kube';
import { keptObjects, restoreObjects, testCluster, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ActiveOperand, ClusterActiveOperand, Operand } from '../src/api.ts';
import { configMap, kinds, readyOperand, runOperator } from './story.ts';

/** What `slipway up` of 0.1.0 had made of its example, definitions included. */
const left = await keptObjects(join(import.meta.dirname, 'upgrade', '0.1.0.jsonl'));

const set = 'sha256-260bafc8d5';
const web = { namespace: 'hello', name: 'web' };
const greeting = { namespace: 'hello', name: 'greeting' };

type Kept = Partial<Record<string, Pick<KubeObject['metadata'], 'uid' | 'generation' | 'ownerReferences'>>>;

/** Everything that was there by kind, with what must not change. */
async function inventory({ client }: TestCluster): Promise<Kept> {
  const found = await Promise.all([
    client.get(Namespace, { name: 'hello' }),
    client.get(ConfigMap, { namespace: 'hello', name: 'installed' }),
    client.get(Deployment, web),
    client.get(Operand, { name: 'hello' }),
    client.get(ClusterActiveOperand, { name: set }),
    client.get(ActiveOperand, { namespace: 'hello', name: set }),
  ]);
  const rows = found.flatMap((object) => {
    if (!object) return [];
    const { uid, generation, ownerReferences } = object.metadata;
    return [[object.kind, { uid, generation, ownerReferences }]];
  });
  return Object.fromEntries(rows) as Kept;
}

test('what 0.1.0 has left is taken over: nothing is lost or written anew, and the next change arrives', async () => {
  await using cluster = await testCluster({ controllers: 'workloads', unshared: true });
  const { client } = cluster;
  await restoreObjects(cluster, left);
  await cluster.eventually('the Deployment is available again', async () =>
    isConditionTrue(await client.get(Deployment, web), 'Available'),
  );
  const before = await inventory(cluster);
  await cluster.install(...kinds);
  const written: string[] = [];
  await runOperator(cluster, ({ method, path }, phase) => {
    if (phase === 'before' && method !== 'GET') written.push(path.replace(/\?.*/, ''));
  });

  // Something goes missing: once it is back, the operator has been through all that was there.
  await client.delete(ConfigMap, greeting);
  await cluster.eventually('what was lost is back', () => client.get(ConfigMap, greeting));
  await readyOperand(cluster, 'hello');
  expect(await inventory(cluster)).toEqual(before);
  expect(new Set(written.filter((path) => /configmaps|deployments|namespaces\/[^/]+$/.test(path)))).toEqual(
    new Set(['/api/v1/namespaces/hello/configmaps/greeting']),
  );

  // A change of today's version meets what the old one had recorded: what leaves the set is pruned.
  const old = left.find(({ kind }) => kind === 'Operand') as Operand;
  const [namespace, , deployment] = old.spec.steadyState!;
  const farewell = { ...configMap('farewell'), metadata: { namespace: 'hello', name: 'farewell' } };
  const steadyState = [namespace, farewell, deployment];
  await client.patch(Operand, { name: 'hello' }, { type: 'merge', body: { spec: { steadyState } } });
  await cluster.eventually('what left the set is pruned', async () => !(await client.get(ConfigMap, greeting)));
  const changed = await readyOperand(cluster, 'hello');
  expect(changed.status?.latestReadyActiveOperand).not.toBe(set);
  expect(await client.get(ConfigMap, { namespace: 'hello', name: 'farewell' })).toBeDefined();
  const { Namespace: sameNamespace, Deployment: sameDeployment } = await inventory(cluster);
  expect([sameNamespace?.uid, sameDeployment?.uid]).toEqual([before['Namespace']?.uid, before['Deployment']?.uid]);
});
