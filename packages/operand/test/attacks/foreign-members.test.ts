import { ConfigMap, findCondition, Namespace, newObject, type KubeObject } from '@slipway/kube';
import { expect, test } from 'vitest';

import { ActiveOperand } from '../../src/api.ts';
import type { LiveRef } from '../../src/live-refs.ts';
import { configMap, operandCluster, runOperator } from '../story.ts';

/** Somebody who may write ActiveOperands in `default` is after `gold` in `treasury`, which only the operator may touch. */
const gold = { namespace: 'treasury', name: 'gold' };
const plain: LiveRef = { group: '', version: '', resource: '', kind: 'ConfigMap', namespace: 'default', name: 'gold' };
/** Everything behind it becomes a value in the query of a write. */
const query = '?fieldManager=tenant&force=true&a=';
const older = { version: 'v1', resource: 'configmaps' };

const tricks: readonly [string, Partial<LiveRef>][] = [
  ['another namespace', { namespace: 'treasury' }],
  ['no namespace', { namespace: '' }],
  ['no namespace and a path for a name', { namespace: '', name: 'namespaces/treasury/configmaps/gold' }],
  ['a path for a namespace', { ...older, namespace: 'default/../treasury' }],
  ['an encoded path for a namespace', { ...older, namespace: 'default%2F..%2Ftreasury' }],
  ['a path for a name', { ...older, name: '../../treasury/configmaps/gold' }],
  ['an encoded path for a name', { ...older, name: '..%2F..%2Ftreasury%2Fconfigmaps%2Fgold' }],
  ['a query behind the name', { ...older, name: 'gold?namespace=treasury' }],
  ['a path for a resource', { version: 'v1', resource: '../treasury/configmaps' }],
  ['a path and a query for a resource', { version: 'v1', resource: `../treasury/configmaps/gold${query}` }],
  ['a path for a version', { version: `v1/namespaces/treasury/configmaps/gold${query}`, resource: 'configmaps' }],
  [
    'a path and a fragment for a version',
    { version: 'v1/namespaces/treasury/configmaps/gold#', resource: 'configmaps' },
  ],
  ['a path for a group', { group: `../api/v1/namespaces/treasury/configmaps/gold${query}`, ...older }],
  ['the root for a group', { group: '.', version: '../api/v1/namespaces/treasury/configmaps/gold?', resource: 'x' }],
  ['a cluster-scoped kind', { ...older, kind: 'Namespace', resource: 'namespaces', name: 'treasury' }],
  ['a subresource', { version: 'v1', resource: 'configmaps', name: 'gold/status' }],
];

test('an ActiveOperand made by hand reaches no object of another namespace, however it names it', async () => {
  await using cluster = await operandCluster();
  const { client } = cluster;
  await client.create(newObject(Namespace, { metadata: { name: 'treasury' } }));
  await client.create({ ...configMap('gold', { worth: 'canary-79' }), metadata: gold });
  const asked: string[] = [];
  await runOperator(cluster, ({ path }, phase) => {
    if (phase === 'before' && /treasury\//.test(path)) asked.push(path);
  });
  for (const [index, [, ref]] of tricks.entries())
    await client.create({
      apiVersion: ActiveOperand.apiVersion,
      kind: 'ActiveOperand',
      metadata: { namespace: 'default', name: `trick-${index}` },
      spec: { live: [{ ...plain, ...ref }] },
    } as KubeObject);
  for (const [index, [trick]] of tricks.entries()) {
    const key = { namespace: 'default', name: `trick-${index}` };
    const set = await cluster.eventually(`${trick} is refused`, async () => {
      const found = await client.get(ActiveOperand, key);
      return findCondition(found, 'Ready')?.status === 'False' ? found : undefined;
    });
    expect(JSON.stringify(set.status)).not.toContain('canary-79');
    await client.delete(ActiveOperand, key);
  }
  await cluster.advance(60_000);
  const kept = await client.get(ConfigMap, gold);
  expect({ asked, owners: kept?.metadata.ownerReferences }).toEqual({ asked: [], owners: undefined });
});
