import {
  condition,
  Conditions,
  ConfigMap,
  defineKind,
  findCondition,
  isConditionTrue,
  seconds,
  Type,
  type DeepReadonly,
  type KubeObject,
  type ObjectOf,
} from '@slipway/kube';
import { controller, requeueAfter, type Controller } from '@slipway/runtime';
import type { TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { activeOperandControllers } from '../src/active/controllers.ts';
import {
  ensureOperand,
  mapStatus,
  Operand,
  operandController,
  removeOperand,
  stampOperand,
  wakeStamper,
} from '../src/index.ts';
import { names } from '../src/names.ts';
import { configMap, operand, operandCluster } from './story.ts';

/** An operator like the one the seed speaks of: each `Platform` becomes an Operand. */
const Platform = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Platform',
  scope: 'Namespaced',
  spec: Type.Object({ version: Type.String(), parts: Type.Array(Type.String()) }),
  status: Type.Object({
    observedGeneration: Type.Optional(Type.Integer()),
    version: Type.Optional(Type.String()),
    conditions: Type.Optional(Conditions),
  }),
});
type Platform = ObjectOf<typeof Platform>;

const operandName = (platform: DeepReadonly<Platform>) => `platform-${platform.metadata.name!.slice(0, 40)}`;

function calculate(platform: DeepReadonly<Platform>) {
  return {
    allowEmpty: true,
    steadyState: platform.spec.parts.map((part): KubeObject => configMap(part, { version: platform.spec.version })),
  };
}

function platformController(): Controller {
  return controller({
    name: 'platform',
    for: Platform,
    watches: [{ kind: Operand, map: wakeStamper }],
    finalize: {
      finalizer: 'example.com/platform',
      async run({ client }, platform) {
        const { name = '', namespace } = platform.metadata;
        const left = await removeOperand({
          client,
          name: operandName(platform),
          stamper: namespace ? { namespace, name } : { name },
        });
        return left === 'gone' ? undefined : requeueAfter(seconds(1));
      },
    },
    async reconcile({ cache, client }, key) {
      const platform = await cache.get(Platform, key);
      if (!platform || platform.metadata.deletionTimestamp !== undefined) return undefined;
      const stamped = await stampOperand({
        client,
        stamper: platform,
        name: operandName(platform),
        calculate,
        fieldManager: 'platform-operator',
      });
      await client.setStatus(platform, {
        ...(stamped.state === 'ready' ? { version: platform.spec.version } : {}),
        conditions: [
          condition(
            'Ready',
            stamped.state === 'waiting' ? 'Unknown' : stamped.state === 'ready',
            stamped.reason,
            stamped.message,
          ),
        ],
      });
      return undefined;
    },
  });
}

const platform = (name: string, version: string, parts: string[]): Platform =>
  ({
    apiVersion: Platform.apiVersion,
    kind: 'Platform',
    metadata: { namespace: 'default', name },
    spec: { version, parts },
  }) as Platform;

async function run(): Promise<TestCluster> {
  const cluster = await operandCluster({ kinds: [Platform] });
  await cluster.run([operandController(), ...activeOperandControllers(), platformController()]);
  return cluster;
}

async function platformWith(
  cluster: TestCluster,
  name: string,
  check: (found: Platform) => boolean,
): Promise<Platform> {
  return await cluster.eventually('the Platform says so', async () => {
    const found = await cluster.client.get(Platform, { namespace: 'default', name });
    return found && found.status?.observedGeneration === found.metadata.generation && check(found) ? found : undefined;
  });
}

describe('an operator that stamps Operands', () => {
  test('installs, upgrades, reports a failure and removes through its Operand', async () => {
    await using cluster = await run();
    const { client } = cluster;
    const at = { namespace: 'default', name: 'shop' };
    await client.create(platform('shop', '1', ['a', 'b']));
    const first = await platformWith(cluster, 'shop', (found) => isConditionTrue(found, 'Ready'));
    expect(first.status?.version).toBe('1');
    const stamped = await client.get(Operand, { name: 'platform-shop' });
    expect(stamped?.metadata.labels).toMatchObject({
      [names.stamperNameLabel]: 'shop',
      [names.stamperNamespaceLabel]: 'default',
    });

    await client.patch(Platform, at, { type: 'merge', body: { spec: { version: '2', parts: ['a', 'c'] } } });
    await platformWith(cluster, 'shop', (found) => found.status?.version === '2');
    await cluster.eventually(
      'b is pruned',
      async () => !(await client.get(ConfigMap, { namespace: 'default', name: 'b' })),
    );
    expect((await client.get(ConfigMap, { namespace: 'default', name: 'a' }))?.data).toEqual({ version: '2' });

    await client.patch(Platform, at, { type: 'merge', body: { spec: { version: '3', parts: ['Not A Name'] } } });
    const failed = await platformWith(cluster, 'shop', (found) => findCondition(found, 'Ready')?.status === 'False');
    expect(findCondition(failed, 'Ready')?.message).toContain('ConfigMap default/Not A Name');
    expect(failed.status?.version).toBe('2');
    expect(await client.get(ConfigMap, { namespace: 'default', name: 'a' })).toBeDefined();

    await client.patch(Platform, at, { type: 'merge', body: { spec: { version: '4', parts: [] } } });
    await platformWith(cluster, 'shop', (found) => found.status?.version === '4');
    await client.delete(Platform, at);
    await cluster.eventually('the Platform is gone', async () => !(await client.get(Platform, at)));
    expect(await client.get(Operand, { name: 'platform-shop' })).toBeUndefined();
  });

  test('is woken although its name is longer than a label', async () => {
    await using cluster = await run();
    const name = 'p'.repeat(100);
    await cluster.client.create(platform(name, '1', ['a']));
    await platformWith(cluster, name, (found) => isConditionTrue(found, 'Ready'));
  });
});

describe('ensureOperand', () => {
  const stamper = { namespace: 'default', name: 'shop' };

  test('writes once, leaves what others put there, and writes nothing when nothing differs', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const options = { client, name: 'shop', stamper, fieldManager: 'stamper', spec: { steadyState: [configMap('a')] } };
    const created = await ensureOperand(options);
    await client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { metadata: { labels: { theirs: 'yes' } } } });
    const again = await ensureOperand({ ...options, spec: { ...options.spec, postInstall: [] } });
    expect(again.metadata.generation).toBe(created.metadata.generation);
    expect(again.metadata.labels).toMatchObject({ theirs: 'yes' });
    const { resourceVersion } = (await client.get(Operand, { name: 'shop' }))!.metadata;
    await ensureOperand(options);
    expect((await client.get(Operand, { name: 'shop' }))?.metadata.resourceVersion).toBe(resourceVersion);
    const changed = await ensureOperand({ ...options, spec: { steadyState: [configMap('b')] } });
    expect(changed.metadata.generation).toBe(2);
    expect(changed.spec.checkDeploymentHealth).toBe(true);
    expect(mapStatus(changed).state).toBe('waiting');
  });

  test('does not take an Operand of somebody else, nor delete it', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await client.create(operand('by-hand', [configMap('a')]));
    const options = { client, name: 'by-hand', stamper, fieldManager: 'stamper', spec: {} };
    await expect(ensureOperand(options)).rejects.toThrow(/Operand by-hand exists already and was not stamped/);
    await ensureOperand({ ...options, name: 'stamped', stamper: { name: 'other' } });
    await expect(ensureOperand({ ...options, name: 'stamped' })).rejects.toThrow(/was stamped for other/);
    expect(await removeOperand({ client, name: 'stamped', stamper })).toBe('gone');
    expect(await client.get(Operand, { name: 'stamped' })).toBeDefined();
  });

  test('knows an Operand the original has labelled', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const labelled = operand('kf', [configMap('a')]);
    labelled.metadata.labels = { [names.stamperNameLabel]: 'kf' };
    await client.create(labelled);
    const taken = await ensureOperand({
      client,
      name: 'kf',
      stamper: { name: 'kf' },
      fieldManager: 'stamper',
      spec: { steadyState: [configMap('a')] },
    });
    expect(taken.metadata.annotations).toMatchObject({ [names.stamperAnnotation]: 'kf' });
  });
});
