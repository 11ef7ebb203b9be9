import { Event, findCondition, Secret, yamlText, type KubeObject } from '@slipway/kube';
import type { TestCluster, TestManager } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { ClusterActiveOperand, Operand } from '../src/api.ts';
import { configMap, operand, operandCluster, readyOperand, runOperator } from './story.ts';

/** Values people put into Secrets, each in a form some server refuses and quotes. */
const refused: [string, Record<string, unknown>, RegExp][] = [
  ['a number', { stringData: { password: 73314419220 } }, /73314419220/],
  ['a large number', { stringData: { password: 73314419220733 } }, /73314419220/],
  ['a flag', { stringData: { canary7331: true }, data: { password: true } }, /password: true|"true"|'true'/],
  ['text that is no base64', { data: { password: '!canary-7331!' } }, /canary-7331/],
  ['base64 in a list', { data: { password: ['Y2FuYXJ5LTczMzE='] } }, /Y2FuYXJ5|canary-7331/],
  ['JSON', { stringData: { password: { token: 'canary-7331', pin: 73314419 } } }, /canary-7331|73314419/],
  ['several lines', { data: { password: 'canary-7331-a\ncanary-7331-b\n' } }, /canary-7331/],
];

const secretWith = (content: Record<string, unknown>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'default', name: 'credentials' },
  ...content,
});

/** Everything the operator wrote where others may read it; the spec is the user's own. */
async function written(cluster: TestCluster, { logs, manager }: TestManager): Promise<string> {
  const found: unknown[] = [];
  for await (const { status } of cluster.client.list(Operand)) found.push(status);
  for await (const { status } of cluster.client.list(ClusterActiveOperand)) found.push(status);
  for await (const event of cluster.client.list(Event)) found.push(event);
  const logText = JSON.stringify(logs, (_key, value: unknown) =>
    value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value,
  );
  return [logText, JSON.stringify(found), await manager.registry.metrics()].join('\n');
}

async function failedOperand(cluster: TestCluster): Promise<string> {
  return await cluster.eventually('it has failed', async () => {
    const found = await cluster.client.get(Operand, { name: 'shop' });
    const condition = found && findCondition(found, 'OperandInstalled');
    return condition && condition.reason !== 'Waiting' ? condition.reason : undefined;
  });
}

describe('a value of a Secret that is refused appears in no status, event, log or metric', () => {
  test.each(refused)('%s in the Operand', async (_name, content, canary) => {
    await using cluster = await operandCluster();
    await using manager = await runOperator(cluster);
    await cluster.client.create(operand('shop', [secretWith(content)], { onFailure: 'Rollback' }));
    expect(await failedOperand(cluster)).toBe('Failed');
    expect(await written(cluster, manager)).not.toMatch(canary);
  });

  test.each(refused)('%s in a source', async (_name, content, canary) => {
    await using cluster = await operandCluster();
    await using manager = await runOperator(cluster);
    const text = yamlText(secretWith(content));
    await cluster.client.create<Secret>({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 'source' },
      data: { 'set.yaml': Buffer.from(text).toString('base64') },
    });
    const from = { steadyStateFrom: [{ kind: 'Secret', namespace: 'default', name: 'source' }] };
    await cluster.client.create(operand('shop', [], from));
    expect(await failedOperand(cluster)).toBe('Failed');
    expect(await written(cluster, manager)).not.toMatch(canary);
  });
});

describe('a source that only some may read', () => {
  const source = (text: string): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name: 'source' },
    data: { 'set.yaml': Buffer.from(text).toString('base64') },
  });
  const from = { steadyStateFrom: [{ kind: 'Secret', namespace: 'default', name: 'source' }] };

  test('is not quoted where it is no YAML', async () => {
    await using cluster = await operandCluster();
    await using manager = await runOperator(cluster);
    await cluster.client.create(source('password: *canary-73314419220\n'));
    await cluster.client.create(operand('shop', [], from));
    expect(await failedOperand(cluster)).toBe('InvalidManifest');
    expect(await written(cluster, manager)).not.toContain('73314419220');
  });

  test('does not show its values in a plan', async () => {
    await using cluster = await operandCluster();
    await using manager = await runOperator(cluster);
    const text = (value: string) => yamlText(configMap('settings', { password: value }));
    await cluster.client.create(source(text('canary-1-73314419220')));
    await cluster.client.create(operand('shop', [], from));
    await readyOperand(cluster, 'shop');
    const data = source(text('canary-2-73314419220')).data!;
    await cluster.client.patch(Secret, { namespace: 'default', name: 'source' }, { type: 'merge', body: { data } });
    // Nobody watches a source without a label: the change of the Operand is what is noticed.
    await cluster.client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { spec: { mode: 'Plan' } } });
    const plan = await cluster.eventually('the change is planned', async () => {
      const { status } = (await cluster.client.get(Operand, { name: 'shop' }))!;
      return status?.plan?.find((line) => line.includes('data.password'));
    });
    expect(plan).toContain('*** → ***');
    expect(await written(cluster, manager)).not.toContain('73314419220');
  });
});
