import { ConfigMap } from '@slipway/kube';
import { annotations } from '@slipway/manifests';
import { describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import {
  changeTo,
  configMap,
  impossible,
  operand,
  operandCluster,
  operandWithReason,
  readyOperand,
  runOperator,
} from './story.ts';

const key = (name: string) => ({ namespace: 'default', name });

describe('what an Operand tells', () => {
  test('results of fifty members at most, those in trouble first, and the number of all', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const members = Array.from({ length: 60 }, (_, i) => configMap(`m${i}`));
    await cluster.client.create(operand('shop', members));
    const ready = await readyOperand(cluster, 'shop');
    expect(ready.status?.counts).toEqual({ total: 60, applied: 60 });
    expect(ready.status?.members).toHaveLength(50);
    await changeTo(cluster, 'shop', [...members, impossible]);
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(failed.status?.counts).toEqual({ total: 61, applied: 60, failed: 1 });
    expect(failed.status?.members?.[0]).toMatchObject({ object: 'ConfigMap nowhere/lost', result: 'failed' });
  });

  test('drift that is left shows in status, and goes when the member is put right', async () => {
    await using cluster = await operandCluster();
    await runOperator(cluster);
    const { client } = cluster;
    const member = configMap('a', { v: '1' }, { annotations: { [annotations.drift]: 'Warn' } });
    await client.create(operand('shop', [member, configMap('b')]));
    await readyOperand(cluster, 'shop');
    const edit = (v: string) => client.patch(ConfigMap, key('a'), { type: 'merge', body: { data: { v } } });
    const drifted = async () => (await client.get(Operand, { name: 'shop' }))?.status?.counts?.['drifted'] ?? 0;
    await edit('edited');
    await cluster.eventually('the drift shows', async () => (await drifted()) === 1);
    expect((await client.get(ConfigMap, key('a')))?.data).toEqual({ v: 'edited' });
    await edit('1');
    await cluster.eventually('it is gone', async () => (await drifted()) === 0);
  });

  test('drift, prunes, passes and waves are counted', async () => {
    await using cluster = await operandCluster();
    const { manager } = await runOperator(cluster);
    const { client } = cluster;
    await client.create(operand('shop', [configMap('a', { v: '1' }), configMap('b')]));
    await readyOperand(cluster, 'shop');
    await client.patch(ConfigMap, key('a'), { type: 'merge', body: { data: { v: 'edited' } } });
    await cluster.eventually(
      'a is put right',
      async () => (await client.get(ConfigMap, key('a')))?.data?.['v'] === '1',
    );
    await changeTo(cluster, 'shop', [configMap('a', { v: '1' })]);
    await cluster.eventually('b is pruned', async () => !(await client.get(ConfigMap, key('b'))));
    await readyOperand(cluster, 'shop');
    const text = await manager.registry.metrics();
    expect(text).toContain('slipway_operand_drift_total{operand="shop",result="corrected"} 1');
    expect(text).toContain('slipway_operand_pruned_objects_total{operand="shop"} 1');
    expect(text).toMatch(/slipway_operand_pass_seconds_count\{operand="shop",extent="full"\} \d/);
    expect(text).toMatch(/slipway_operand_wave_seconds_count\{operand="shop",wave="50"\} \d/);
  });
});
