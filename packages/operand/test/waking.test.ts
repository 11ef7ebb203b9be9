import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  findCondition,
  isConditionTrue,
  type KubeObject,
} from '@slipway/kube';
import { HeldWatches, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import { deny } from './admission-policy.ts';
import { makeHealthyOn } from './member-health.ts';
import {
  configMap,
  definitionOf,
  deployment,
  operand,
  operandCluster,
  operandWithReason,
  readyOperand,
  runOperator,
  runOperatorThrough,
} from './story.ts';

/** Well below the minute after which a failed Operand is looked at in any case. */
const soon = { withinMs: 10_000 };
const key = (name: string) => ({ namespace: 'default', name });

async function readySoon(cluster: TestCluster, name: string): Promise<void> {
  await cluster.eventually(
    `Operand ${name} is ready soon`,
    async () => isConditionTrue(await cluster.client.get(Operand, { name }), 'Ready'),
    soon,
  );
}

describe('members that come from a source', () => {
  const source = (objects: readonly KubeObject[]) =>
    configMap('manifest', { all: objects.map((object) => JSON.stringify(object)).join('\n') });
  const fromSource = { steadyStateFrom: [{ kind: 'ConfigMap', namespace: 'default', name: 'manifest' }] };

  test('come back at once when they are deleted or edited', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await client.create(source([configMap('a', { v: '1' }), configMap('b', { v: '1' })]));
    await runOperator(cluster);
    await client.create(operand('shop', [], fromSource));
    await readyOperand(cluster, 'shop');
    await client.delete(ConfigMap, key('a'));
    await cluster.eventually('the deleted member is back', () => client.get(ConfigMap, key('a')), soon);
    await client.patch(ConfigMap, key('b'), { type: 'merge', body: { data: { v: '2' } } });
    await cluster.eventually(
      'the edited member is as it was',
      async () => (await client.get(ConfigMap, key('b')))?.data?.['v'] === '1',
      soon,
    );
  });

  test('are seen to get healthy at once', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await client.create(source([deployment('web')]));
    await runOperator(cluster);
    await client.create(operand('shop', [], { ...fromSource, checkDeploymentHealth: true }));
    await cluster.eventually('it says what it waits for', async () =>
      findCondition(await client.get(Operand, { name: 'shop' }), 'Ready')?.message?.includes(
        'waiting for Deployment default/web: ',
      ),
    );
    await cluster.eventually('the Deployment is made healthy', async () =>
      makeHealthyOn(cluster)(client, Deployment, (await client.get(Deployment, key('web')))!),
    );
    await readySoon(cluster, 'shop');
  });
});

test('a member whose kind is defined by the same manifest is watched from the first pass on', async () => {
  await using cluster = await operandCluster({ unshared: true });
  const { client } = cluster;
  const group = 'together.example.com';
  const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: key('g'), spec: { size: 1 } };
  await runOperator(cluster);
  await client.create(operand('shop', [definitionOf(group, 'Gadget'), gadget]));
  await readyOperand(cluster, 'shop');
  const kind = await client.resolve(`${group}/v1`, 'Gadget');
  await client.delete(kind, key('g'));
  await cluster.eventually('the deleted member is back', () => client.get(kind, key('g')), soon);
});

describe('an Operand that has failed goes on within seconds', () => {
  test('when the definition of a kind appears that it could not find', async () => {
    await using cluster = await operandCluster({ unshared: true });
    const { client } = cluster;
    const group = 'late.example.com';
    const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: key('g'), spec: { size: 1 } };
    await runOperator(cluster);
    await client.create(operand('shop', [configMap('a'), gadget]));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(findCondition(failed, 'Ready')?.message).toContain('install it first');
    await client.create(definitionOf(group, 'Gadget'));
    await readySoon(cluster, 'shop');
  });

  test('when that definition comes with the first list of definitions, which is late', async () => {
    await using cluster = await operandCluster({ unshared: true });
    const { client } = cluster;
    const group = 'later.example.com';
    const watches = new HeldWatches(({ path }) => path.includes('/customresourcedefinitions'));
    await runOperatorThrough(cluster, watches.through(cluster.transport()));
    const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { namespace: 'default', name: 'one' } };
    await client.create(operand('shop', [gadget]));
    await operandWithReason(cluster, 'shop', 'Failed');
    await client.create(definitionOf(group, 'Gadget'));
    expect(watches.count).toBeGreaterThan(0);
    watches.release();
    await readySoon(cluster, 'shop');
  });

  test('when the policy that denies a member is lifted', async () => {
    await using cluster = await operandCluster({ unshared: true });
    const { client } = cluster;
    const denial = {
      kind: ConfigMap,
      operations: ['CREATE', 'UPDATE'],
      expression: "object.metadata.name != 'blue'",
      message: 'blue is not allowed here',
    };
    const denied = await deny(cluster, denial, () => client.create(configMap('blue'), { dryRun: true }));
    await runOperator(cluster);
    await client.create(operand('shop', [configMap('green'), configMap('blue')]));
    const failed = await operandWithReason(cluster, 'shop', 'Failed');
    expect(findCondition(failed, 'Ready')?.message).toContain('change the object, or what denies it');
    await denied.lift();
    await readySoon(cluster, 'shop');
  });
});

test('members of a kind that was away and came back are made again, and watched again', async () => {
  await using cluster = await operandCluster({ unshared: true });
  const { client } = cluster;
  const group = 'away.example.com';
  const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: key('g'), spec: { size: 1 } };
  await client.create(definitionOf(group, 'Gadget'));
  await cluster.eventually('the kind is served', () => client.resolve(`${group}/v1`, 'Gadget').catch(() => undefined));
  await runOperator(cluster);
  await client.create(operand('shop', [gadget]));
  await readyOperand(cluster, 'shop');
  const definition = { name: `gadgets.${group}` };
  await client.delete(CustomResourceDefinition, definition);
  await cluster.eventually(
    'the definition is gone',
    async () => !(await client.get(CustomResourceDefinition, definition)),
  );
  await cluster.eventually(
    'the Operand says so',
    async () => (await operandWithReason(cluster, 'shop', 'Failed')) !== undefined,
  );
  await client.create(definitionOf(group, 'Gadget'));
  const kind = { ...(await client.resolve('v1', 'ConfigMap')), group, version: 'v1', kind: 'Gadget' };
  const gadgets = { ...kind, plural: 'gadgets', apiVersion: `${group}/v1` };
  const read = () => client.get(gadgets, key('g')).catch(() => undefined);
  await cluster.eventually('the member is back', read, soon);
  await readySoon(cluster, 'shop');
  await client.patch(gadgets, key('g'), { type: 'merge', body: { spec: { size: 9 } } });
  await cluster.eventually(
    'an edit is undone',
    async () => ((await read())?.['spec'] as { size?: number } | undefined)?.size === 1,
    { withinMs: 35_000 },
  );
});
