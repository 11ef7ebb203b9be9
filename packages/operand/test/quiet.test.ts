import { ConfigMap, findCondition, type KubeObject } from '@slipway/kube';
import { WriteCount, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { ClusterActiveOperand, Operand } from '../src/api.ts';
import { activeOperandControllers } from '../src/active/controllers.ts';
import { operandController } from '../src/operand/controller.ts';
import { denyDeleting } from './admission-policy.ts';
import { changeTo, configMap, impossible, operand, operandCluster, operandWithReason, readyOperand } from './story.ts';

async function runCounted(cluster: TestCluster): Promise<WriteCount> {
  const writes = new WriteCount();
  const transport = writes.counting(cluster.transport());
  await cluster.run([operandController(), ...activeOperandControllers()], { cluster: { transport } });
  return writes;
}

async function conditionOf({ client }: TestCluster, type: string) {
  return findCondition(await client.get(Operand, { name: 'shop' }), type);
}

describe('an Operand writes no object over and over', () => {
  test('when deleting the set before is denied: it says so, and what is installed stays installed', async () => {
    await using cluster = await operandCluster();
    const writes = await runCounted(cluster);
    await cluster.client.create(operand('shop', [configMap('a')]));
    await readyOperand(cluster, 'shop');
    const denial = await denyDeleting(cluster, ClusterActiveOperand);
    await changeTo(cluster, 'shop', [configMap('b')]);
    await cluster.eventually(
      'the refusal is told',
      async () => (await conditionOf(cluster, 'LatestActiveOperandReady'))?.reason === 'PruneFailed',
    );
    await writes.quiet(cluster, 'while deleting is denied');
    expect(await conditionOf(cluster, 'OperandInstalled')).toMatchObject({ status: 'True' });
    expect((await conditionOf(cluster, 'Ready'))?.message).toContain('delete ClusterActiveOperand');

    await denial.lift();
    await readyOperand(cluster, 'shop');
  });

  test('when deleting a superseded set is denied', async () => {
    await using cluster = await operandCluster();
    const writes = await runCounted(cluster);
    await cluster.client.create(operand('shop', [configMap('a'), impossible]));
    await operandWithReason(cluster, 'shop', 'Failed');
    await denyDeleting(cluster, ClusterActiveOperand);
    await changeTo(cluster, 'shop', [configMap('b')]);
    await cluster.eventually('the refusal is told', async () =>
      (await conditionOf(cluster, 'OperandInstalled'))?.message?.includes('delete ClusterActiveOperand'),
    );
    await writes.quiet(cluster, 'while deleting is denied');
  });

  test('when pruning a member is denied', async () => {
    await using cluster = await operandCluster();
    const writes = await runCounted(cluster);
    await cluster.client.create(operand('shop', [configMap('a'), configMap('b')]));
    await readyOperand(cluster, 'shop');
    await denyDeleting(cluster, ConfigMap);
    await changeTo(cluster, 'shop', [configMap('b')]);
    await cluster.eventually('the refusal is told', async () =>
      (await conditionOf(cluster, 'LatestActiveOperandReady'))?.message?.includes('default/a'),
    );
    await writes.quiet(cluster, 'while pruning is denied');
  });

  test('when the Operand is deleted and deleting its set is denied: it says what is refused', async () => {
    await using cluster = await operandCluster();
    const writes = await runCounted(cluster);
    await cluster.client.create(operand('shop', [configMap('a')]));
    await readyOperand(cluster, 'shop');
    await denyDeleting(cluster, ClusterActiveOperand);
    await cluster.client.delete(Operand, { name: 'shop' });
    await cluster.eventually(
      'the refusal is told',
      async () => (await conditionOf(cluster, 'OperandInstalled'))?.reason === 'DeleteFailed',
    );
    await writes.quiet(cluster, 'while deleting is denied');
  });

  test('when the Operand is deleted and deleting a member is denied', async () => {
    await using cluster = await operandCluster();
    const writes = await runCounted(cluster);
    await cluster.client.create(operand('shop', [configMap('a')]));
    await readyOperand(cluster, 'shop');
    await denyDeleting(cluster, ConfigMap);
    await cluster.client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the refusal is told', async () =>
      (await conditionOf(cluster, 'OperandInstalled'))?.message?.includes('default/a'),
    );
    await writes.quiet(cluster, 'while deleting is denied');
  });

  test.each<[string, KubeObject[]]>([
    ['a member whose namespace does not exist', [configMap('a'), impossible]],
    ['a member of a kind nobody serves', [{ apiVersion: 'x.example/v1', kind: 'Thing', metadata: { name: 'x' } }]],
    ['a member that belongs to a Helm release', [configMap('foreign'), configMap('a')]],
  ])('when it has %s', async (_what, members) => {
    await using cluster = await operandCluster({
      objects: [configMap('foreign', {}, { annotations: { 'meta.helm.sh/release-name': 'web' } })],
    });
    const writes = await runCounted(cluster);
    await cluster.client.create(operand('shop', members));
    await operandWithReason(cluster, 'shop', 'Failed');
    await writes.quiet(cluster, 'while it fails');
  });
});
