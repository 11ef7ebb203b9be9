import {
  ConfigMap,
  CustomResourceDefinition,
  findCondition,
  isConditionTrue,
  Namespace,
  newObject,
  Secret,
  type KubeObject,
} from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { ActiveOperand, ClusterActiveOperand, Operand } from '../src/api.ts';
import { toLiveRef } from '../src/live-refs.ts';
import {
  changeTo,
  configMap,
  definitionOf,
  diesAfter,
  operand,
  operandCluster,
  operandWithReason,
  readyOperand,
  runOperator,
  setsOf,
} from './story.ts';

const at = (name: string, namespace = 'default') => ({ namespace, name });
const inTeam = (name: string, data = {}): KubeObject => configMap(name, data, { namespace: 'team' });
const team = newObject(Namespace, { metadata: { name: 'team' } });

async function isGone(cluster: TestCluster, name: string): Promise<void> {
  await cluster.eventually(`${name} is gone`, async () => !(await cluster.client.get(Operand, { name })));
}

async function isDown(cluster: TestCluster, name: string): Promise<void> {
  await cluster.eventually(`namespace ${name} is gone`, async () => !(await cluster.client.get(Namespace, { name })));
}

async function dropDefinition(cluster: TestCluster, name: string): Promise<void> {
  const { client } = cluster;
  await client.delete(CustomResourceDefinition, { name });
  await cluster.eventually('it is gone', async () => !(await client.get(CustomResourceDefinition, { name })));
}

describe('two Operands that swap an object', () => {
  test('of the same content both have it, whenever the operator dies', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const manager = await runOperator(cluster);
    await client.create(operand('a', [configMap('own-a'), configMap('x', { v: '1' })]));
    await client.create(operand('b', [configMap('own-b'), configMap('y', { v: '1' })]));
    await readyOperand(cluster, 'a');
    await readyOperand(cluster, 'b');
    const uids = async () =>
      Promise.all(['x', 'y'].map(async (name) => (await client.get(ConfigMap, at(name)))?.metadata.uid));
    const before = await uids();
    await manager.stop();
    await changeTo(cluster, 'a', [configMap('own-a'), configMap('y', { v: '1' })]);
    await changeTo(cluster, 'b', [configMap('own-b'), configMap('x', { v: '1' })]);
    await diesAfter(cluster, 4);
    await runOperator(cluster);
    await readyOperand(cluster, 'a');
    await readyOperand(cluster, 'b');
    expect(await uids()).toEqual(before);
    await client.delete(Operand, { name: 'a' });
    await isGone(cluster, 'a');
    await cluster.eventually('y is gone', async () => !(await client.get(ConfigMap, at('y'))));
    expect((await client.get(ConfigMap, at('x')))?.metadata.uid).toBe(before[0]);
  });

  test('of different content say who has it, and go on within seconds once one lets go', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await runOperator(cluster);
    await client.create(operand('a', [configMap('own-a'), configMap('x', { v: 'a' })]));
    await client.create(operand('b', [configMap('own-b'), configMap('y', { v: 'b' })]));
    await readyOperand(cluster, 'a');
    await readyOperand(cluster, 'b');
    await changeTo(cluster, 'a', [configMap('own-a'), configMap('y', { v: 'a' })]);
    await changeTo(cluster, 'b', [configMap('own-b'), configMap('x', { v: 'b' })]);
    const a = await operandWithReason(cluster, 'a', 'Failed');
    const b = await operandWithReason(cluster, 'b', 'Failed');
    expect(findCondition(a, 'OperandInstalled')?.message).toContain('operand-b');
    expect(findCondition(b, 'OperandInstalled')?.message).toContain('operand-a');
    await changeTo(cluster, 'a', [configMap('own-a')]);
    await readyOperand(cluster, 'a');
    await cluster.eventually(
      'b has x',
      async () => isConditionTrue((await client.get(Operand, { name: 'b' })) ?? {}, 'Ready'),
      { withinMs: 10_000 },
    );
  });
});

describe('a namespace', () => {
  test('deleted under an Operand is named; made again, its members come back within seconds', async () => {
    await using cluster = await operandCluster({ objects: [team] });
    const { client } = cluster;
    await runOperator(cluster);
    await client.create(operand('shop', [configMap('a'), inTeam('b')]));
    await readyOperand(cluster, 'shop');
    await client.delete(Namespace, { name: 'team' });
    await isDown(cluster, 'team');
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(findCondition(failed, 'OperandInstalled')?.message).toContain('team');
    await client.create(team);
    await cluster.eventually('b is back', () => client.get(ConfigMap, at('b', 'team')), { withinMs: 10_000 });
    await readyOperand(cluster, 'shop');
  });

  test('deleted under a namespaced ActiveOperand is not held up by it', async () => {
    await using cluster = await operandCluster({ objects: [team] });
    const { client } = cluster;
    await runOperator(cluster);
    await client.create(inTeam('a'));
    await client.create(
      newObject(ActiveOperand, {
        metadata: at('by-hand', 'team'),
        spec: { live: [toLiveRef({ group: '', kind: 'ConfigMap', namespace: 'team', name: 'a' })] },
      }),
    );
    await cluster.eventually('it is ready', async () =>
      isConditionTrue((await client.get(ActiveOperand, at('by-hand', 'team'))) ?? {}, 'Ready'),
    );
    await client.delete(Namespace, { name: 'team' });
    await isDown(cluster, 'team');
  });

  test('deleted together with the Operand that fills it: both go, and nothing is left', async () => {
    await using cluster = await operandCluster({ objects: [team] });
    const { client } = cluster;
    await runOperator(cluster);
    await client.create(operand('shop', [configMap('a'), inTeam('b')]));
    await readyOperand(cluster, 'shop');
    await client.delete(Namespace, { name: 'team' });
    await client.delete(Operand, { name: 'shop' });
    await isGone(cluster, 'shop');
    await isDown(cluster, 'team');
    expect(await client.get(ConfigMap, at('a'))).toBeUndefined();
    expect(await setsOf(cluster)).toEqual([]);
  });
});

describe('an Operand that is deleted', () => {
  test('while the kind of a member is not served, goes all the same', async () => {
    await using cluster = await operandCluster({ unshared: true });
    const { client } = cluster;
    const group = 'gone.example.com';
    await client.create(definitionOf(group, 'Gadget'));
    await cluster.eventually('the kind is served', () =>
      client.resolve(`${group}/v1`, 'Gadget').catch(() => undefined),
    );
    const manager = await runOperator(cluster);
    const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: at('g') };
    await client.create(operand('shop', [configMap('a'), gadget]));
    await readyOperand(cluster, 'shop');
    await manager.stop();
    await dropDefinition(cluster, `gadgets.${group}`);
    await client.delete(Operand, { name: 'shop' });
    await runOperator(cluster);
    await isGone(cluster, 'shop');
    await cluster.eventually('a is gone', async () => !(await client.get(ConfigMap, at('a'))));
  });

  test('while its source is gone, goes all the same', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const source = newObject(Secret, {
      metadata: { ...at('more'), labels: { 'operand.slipway.dev/source': 'true' } },
      stringData: { 'more.yaml': JSON.stringify(configMap('from-source')) },
    } as never);
    await client.create(source);
    const manager = await runOperator(cluster);
    await client.create(operand('shop', [configMap('a')], { steadyStateFrom: [{ kind: 'Secret', ...at('more') }] }));
    await readyOperand(cluster, 'shop');
    await manager.stop();
    await client.delete(Secret, at('more'));
    await client.delete(Operand, { name: 'shop' });
    await runOperator(cluster);
    await isGone(cluster, 'shop');
    await cluster.eventually('all are gone', async () => {
      const left = await Promise.all(['a', 'from-source'].map((name) => client.get(ConfigMap, at(name))));
      return left.every((each) => each === undefined);
    });
  });

  test('without its objects after it had adopted one: the object is as it was, and a namesake takes it', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const before = await client.create(configMap('theirs', { v: '1', more: 'yes' }, { labels: { team: 'x' } }));
    const manager = await runOperator(cluster);
    await client.create(operand('shop', [configMap('theirs', { v: '1' })], { deletionPolicy: 'Orphan' }));
    await readyOperand(cluster, 'shop');
    await manager.stop();
    await client.delete(Operand, { name: 'shop' });
    await diesAfter(cluster, 2);
    await runOperator(cluster);
    await isGone(cluster, 'shop');
    const left = await client.get(ConfigMap, at('theirs'));
    expect(left?.metadata.uid).toBe(before.metadata.uid);
    expect(left?.metadata.labels).toEqual({ team: 'x' });
    expect(left?.metadata.ownerReferences).toBeUndefined();
    expect(left?.data).toEqual({ v: '1', more: 'yes' });
    expect(left?.metadata.managedFields?.map(({ manager: who }) => who)).not.toContain('operand-shop');
    await client.create(operand('shop', [configMap('theirs', { v: '2' })]));
    await readyOperand(cluster, 'shop');
    expect((await client.get(ConfigMap, at('theirs')))?.data).toEqual({ v: '2', more: 'yes' });
  });
});

describe('members without an owner', () => {
  test('a definition deleted and made again by hand while the operator is down is brought back to the manifest', async () => {
    await using cluster = await operandCluster({ unshared: true });
    const { client } = cluster;
    const group = 'back.example.com';
    const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: at('g'), spec: { size: 1 } };
    const definition = definitionOf(group, 'Gadget');
    const manager = await runOperator(cluster);
    await client.create(operand('shop', [definition, gadget]));
    await readyOperand(cluster, 'shop');
    await manager.stop();
    await dropDefinition(cluster, `gadgets.${group}`);
    await client.create(definition);
    await runOperator(cluster);
    await cluster.eventually('the gadget is back', async () => {
      const kind = await client.resolve(`${group}/v1`, 'Gadget');
      return client.get(kind, at('g'));
    });
    await readyOperand(cluster, 'shop');
    await client.delete(Operand, { name: 'shop' });
    await isGone(cluster, 'shop');
    // Definitions are kept, and this one is nobody's again.
    const kept = await client.get(CustomResourceDefinition, { name: `gadgets.${group}` });
    expect(kept).toBeDefined();
    expect(kept?.metadata.labels ?? {}).toEqual({});
  });

  test('a set deleted by hand in the foreground while the operator is down loses no member for good', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const manager = await runOperator(cluster);
    await client.create(operand('shop', [configMap('a', { v: '1' }), configMap('b')]));
    const ready = await readyOperand(cluster, 'shop');
    await manager.stop();
    await client.delete(
      ClusterActiveOperand,
      { name: ready.status!.latestReadyActiveOperand! },
      { propagationPolicy: 'Foreground' },
    );
    await changeTo(cluster, 'shop', [configMap('a', { v: '2' })]);
    await runOperator(cluster);
    await cluster.eventually('a is as wanted', async () => (await client.get(ConfigMap, at('a')))?.data?.['v'] === '2');
    await readyOperand(cluster, 'shop');
    await cluster.eventually('b is gone', async () => !(await client.get(ConfigMap, at('b'))));
    expect(await setsOf(cluster)).toHaveLength(1);
  });
});
