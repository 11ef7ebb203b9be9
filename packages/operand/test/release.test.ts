import { ConfigMap, isConditionTrue } from '@slipway/kube';
import { annotations } from '@slipway/manifests';
import type { TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import { changeTo, configMap, operand, operandCluster, operandWithReason, readyOperand, runOperator } from './story.ts';

const key = (name: string) => ({ namespace: 'default', name });

/** Operand `b` wants `shared` with another value than it has; it may have it once nobody else does. */
async function expectTakenByB(cluster: TestCluster): Promise<void> {
  const { client } = cluster;
  if (!(await client.get(Operand, { name: 'b' }))) await client.create(operand('b', [configMap('shared', { v: 'b' })]));
  // One that was refused before looks again after a minute.
  const isReady = async () => isConditionTrue((await client.get(Operand, { name: 'b' })) ?? {}, 'Ready');
  await cluster.eventually('b is ready', isReady, { withinMs: 90_000 });
  const taken = await client.get(ConfigMap, key('shared'));
  expect(taken?.data).toEqual({ v: 'b', kept: 'yes' });
  expect(taken?.metadata.managedFields?.map((entry) => entry.manager)).not.toContain('operand-a');
  // Nothing of a's is left that could take it along.
  await client.delete(Operand, { name: 'a' });
  await cluster.eventually('a is gone', async () => !(await client.get(Operand, { name: 'a' })));
  expect(await client.get(ConfigMap, key('shared'))).toBeDefined();
  await client.delete(Operand, { name: 'b' });
  await cluster.eventually('b takes it along', async () => !(await client.get(ConfigMap, key('shared'))));
}

const first = (extra: Record<string, string> = {}) => [
  configMap('own'),
  configMap('shared', { v: 'a', kept: 'yes' }, { annotations: extra }),
];

describe('another Operand may take an object', () => {
  test('that was kept when it left its set', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    await cluster.client.create(operand('a', first({ [annotations.prune]: 'disabled' })));
    await readyOperand(cluster, 'a');
    await changeTo(cluster, 'a', [configMap('own')]);
    await readyOperand(cluster, 'a');
    // Who takes it decides anew whether it is pruned.
    await cluster.client.patch(ConfigMap, key('shared'), {
      type: 'merge',
      body: { metadata: { annotations: { [annotations.prune]: null } } },
    });
    await expectTakenByB(cluster);
  });

  test('that left a set which prunes nothing', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    await cluster.client.create(operand('a', first(), { prunePolicy: 'Orphan' }));
    await readyOperand(cluster, 'a');
    await changeTo(cluster, 'a', [configMap('own')]);
    await readyOperand(cluster, 'a');
    await expectTakenByB(cluster);
  });

  test('of an Operand that was deleted without its objects, even if it was refused before', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    await cluster.client.create(operand('a', first(), { deletionPolicy: 'Orphan' }));
    await readyOperand(cluster, 'a');
    await cluster.client.create(operand('b', [configMap('shared', { v: 'b' })]));
    await operandWithReason(cluster, 'b', 'Failed');
    await cluster.client.delete(Operand, { name: 'a' });
    await cluster.eventually('a is gone', async () => !(await cluster.client.get(Operand, { name: 'a' })));
    await expectTakenByB(cluster);
    expect((await cluster.client.get(ConfigMap, key('own')))?.metadata.labels ?? {}).toEqual({});
  });
});
