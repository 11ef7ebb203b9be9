import { ConfigMap, findCondition, Namespace, newObject, type OwnerReference } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { ActiveOperand, ClusterActiveOperand, Operand } from '../src/api.ts';
import { toLiveRef } from '../src/live-refs.ts';
import {
  changeTo,
  configMap,
  impossible,
  operand,
  operandCluster,
  operandWithReason,
  readyOperand,
  runOperator,
  setsOf,
} from './story.ts';

/** The garbage collector takes what it wants within seconds. */
const longEnoughMs = 5_000;
const key = (name: string) => ({ namespace: 'default', name });

async function ownersOf({ client }: TestCluster, name: string): Promise<readonly OwnerReference[]> {
  return (await client.get(ConfigMap, key(name)))?.metadata.ownerReferences ?? [];
}

describe('an object whose adoption was refused', () => {
  test('gets no owner, and outlives the Operand that asked for it', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await client.create(configMap('foreign', {}, { annotations: { 'meta.helm.sh/release-name': 'web' } }));
    await runOperator(cluster);
    await client.create(operand('shop', [configMap('a'), configMap('foreign', { v: '1' })]));
    await operandWithReason(cluster, 'shop', 'Failed');
    await cluster.advance(longEnoughMs);
    expect(await ownersOf(cluster, 'foreign')).toEqual([]);

    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
    await cluster.advance(longEnoughMs);
    expect(await client.get(ConfigMap, key('foreign'))).toBeDefined();
  });
});

describe('a set that is going', () => {
  test('gets no member, whatever another controller of the operator saw before', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const first = await runOperator(cluster);
    await client.create(operand('shop', [configMap('a'), configMap('shared')]));
    const before = await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [configMap('b'), configMap('shared'), impossible]);
    await operandWithReason(cluster, 'shop', 'Failed');
    const b = await client.get(ConfigMap, key('b'));
    const pending = (await setsOf(cluster)).find(
      (set) => set.metadata.name !== before.status?.latestReadyActiveOperand,
    )!.metadata;
    await first.stop();
    // As after a crash in the middle of the install: the pending set is there, its reference is not.
    await client.patch(ConfigMap, key('b'), { type: 'merge', body: { metadata: { ownerReferences: null } } });
    await changeTo(cluster, 'shop', [configMap('b'), configMap('c'), configMap('shared')]);

    let stamping = false;
    await runOperator(cluster, async (request, phase) => {
      if (phase !== 'before') return;
      const until = async (isTime: () => boolean | Promise<boolean>) => {
        for (let round = 0; round < 300 && !(await isTime()); round += 1)
          await new Promise((resolve) => setImmediate(resolve));
      };
      if (request.method === 'PATCH' && request.path.includes(`fieldManager=${pending.name}`)) {
        stamping = true;
        await until(async () => !(await setsOf(cluster)).some(({ metadata }) => metadata.uid === pending.uid));
      }
      if (request.method === 'DELETE' && request.path.includes(pending.name!)) await until(() => stamping);
      // The garbage collector has all the time it needs.
      if (request.method === 'POST' && request.path.includes('/clusteractiveoperands'))
        await until(async () => (await client.get(ConfigMap, key('b'))) === undefined);
    });
    await readyOperand(cluster, 'shop');
    await cluster.advance(longEnoughMs);
    expect((await client.get(ConfigMap, key('b')))?.metadata.uid).toBe(b?.metadata.uid);
    expect((await ownersOf(cluster, 'b')).map(({ uid }) => uid)).not.toContain(pending.uid);
  });
});

describe('a ClusterActiveOperand deleted by hand', () => {
  test.each(['Background', 'Orphan'] as const)(
    'with %s loses no member, and is made again',
    async (propagationPolicy) => {
      await using cluster = await operandCluster();
      const { client } = cluster;
      await runOperator(cluster);
      await client.create(operand('shop', [configMap('a'), configMap('b')]));
      const { status } = await readyOperand(cluster, 'shop');
      const name = status!.latestReadyActiveOperand!;
      const set = await client.get(ClusterActiveOperand, { name });
      const before = await client.get(ConfigMap, key('a'));

      await client.delete(ClusterActiveOperand, { name }, { propagationPolicy });
      const again = await cluster.eventually('the set is made again and owns its members', async () => {
        const now = await client.get(ClusterActiveOperand, { name });
        const owners = (await ownersOf(cluster, 'a')).map(({ uid }) => uid);
        return now && now.metadata.uid !== set?.metadata.uid && owners.join() === now.metadata.uid ? now : undefined;
      });
      expect((await client.get(ConfigMap, key('a')))?.metadata.uid).toBe(before?.metadata.uid);
      await cluster.eventually('nothing is left to prune', async () => {
        const found = await readyOperand(cluster, 'shop');
        return (found.status?.carryOver ?? []).length === 0;
      });
      expect((await ownersOf(cluster, 'b')).map(({ uid }) => uid)).toEqual([again.metadata.uid]);
    },
  );

  test('and members that leave the manifest meanwhile are pruned all the same', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const operator = await runOperator(cluster);
    await client.create(operand('shop', [configMap('a'), configMap('b')]));
    const { status } = await readyOperand(cluster, 'shop');
    const name = status!.latestReadyActiveOperand!;
    await client.addFinalizer((await client.get(ClusterActiveOperand, { name }))!, 'example.com/hold');
    await client.delete(ClusterActiveOperand, { name });
    await cluster.eventually('the members are released', async () => (await ownersOf(cluster, 'b')).length === 0);
    await cluster.eventually('the Operand says what the set waits for', async () =>
      findCondition(await client.get(Operand, { name: 'shop' }), 'LatestActiveOperandReady')?.message?.includes(
        'waits for example.com/hold',
      ),
    );
    await operator.stop();
    await changeTo(cluster, 'shop', [configMap('a')]);
    await client.removeFinalizer((await client.get(ClusterActiveOperand, { name }))!, 'example.com/hold');
    await runOperator(cluster);
    await cluster.eventually('b is pruned', async () => !(await client.get(ConfigMap, key('b'))));
    expect((await readyOperand(cluster, 'shop')).status?.carryOver ?? []).toEqual([]);
  });
});

describe('a member whose drift is left', () => {
  test('gets the owner of the next set, and keeps its drift', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await runOperator(cluster);
    const left = configMap('left', { v: '1' }, { annotations: { 'manifests.slipway.dev/drift': 'Ignore' } });
    await client.create(operand('shop', [left, configMap('a')]));
    await readyOperand(cluster, 'shop');
    await client.patch(ConfigMap, key('left'), { type: 'merge', body: { data: { v: 'edited' } } });
    await changeTo(cluster, 'shop', [left, configMap('b')]);
    const { status } = await readyOperand(cluster, 'shop');
    expect((await ownersOf(cluster, 'left')).map(({ name }) => name)).toEqual([status?.latestReadyActiveOperand]);
    expect((await client.get(ConfigMap, key('left')))?.data).toEqual({ v: 'edited' });
  });
});

describe('the members of a set', () => {
  test('cannot be changed', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await runOperator(cluster);
    await client.create(operand('shop', [configMap('a')]));
    const name = (await readyOperand(cluster, 'shop')).status!.latestReadyActiveOperand!;
    const added = toLiveRef({ group: '', kind: 'ConfigMap', namespace: 'kube-system', name: 'theirs' });
    for (const live of [[added], [], null]) {
      const change = { type: 'merge', body: { spec: { live } } } as const;
      await expect(client.patch(ClusterActiveOperand, { name }, change)).rejects.toThrow('spec.live is immutable');
      await expect(client.patch(ActiveOperand, { namespace: 'default', name }, change)).rejects.toThrow('immutable');
    }
  });
});

describe('a namespaced ActiveOperand', () => {
  const made = (names: readonly [namespace: string, name: string][]) =>
    newObject(ActiveOperand, {
      metadata: { namespace: 'default', name: 'by-hand' },
      spec: { live: names.map(([namespace, name]) => toLiveRef({ group: '', kind: 'ConfigMap', namespace, name })) },
    });

  test('owns objects of its own namespace', async () => {
    await using cluster = await operandCluster();
    await cluster.client.create(configMap('a'));
    await runOperator(cluster);
    const set = await cluster.client.create(made([['default', 'a']]));
    await cluster.eventually('a is owned', async () => (await ownersOf(cluster, 'a'))[0]?.uid === set.metadata.uid);
  });

  test('that names objects of another namespace is refused, touches none and tells nothing of them', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await client.create(newObject(Namespace, { metadata: { name: 'treasury' } }));
    await client.create({ ...configMap('a'), metadata: { namespace: 'treasury', name: 'gold' } });
    await client.create(configMap('a'));
    await runOperator(cluster);
    const at = { namespace: 'default', name: 'by-hand' };
    await client.create(
      made([
        ['default', 'a'],
        ['treasury', 'gold'],
        ['treasury', 'silver'],
      ]),
    );
    const refused = await cluster.eventually('it is refused', async () => {
      const found = await client.get(ActiveOperand, at);
      return findCondition(found, 'Ready')?.status === 'False' ? found : undefined;
    });
    expect(findCondition(refused, 'Ready')?.message).toContain('2 of 3 entries');
    expect(JSON.stringify(refused.status)).not.toMatch(/treasury|gold|silver|exist/);
    await client.delete(ActiveOperand, at);
    await cluster.advance(longEnoughMs);
    expect(
      (await client.get(ConfigMap, { namespace: 'treasury', name: 'gold' }))?.metadata.ownerReferences,
    ).toBeUndefined();
    expect(await client.get(ConfigMap, key('a'))).toBeDefined();
  });

  test('that is being deleted without its objects gets none', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    await client.create(configMap('a'));
    const at = { namespace: 'default', name: 'by-hand' };
    let deleted = false;
    await runOperator(cluster, async (request, phase) => {
      if (phase !== 'before' || deleted || !request.path.includes('/configmaps/a?fieldManager=by-hand')) return;
      deleted = true;
      await client.addFinalizer((await client.get(ActiveOperand, at))!, 'example.com/hold');
      await client.delete(ActiveOperand, at, { propagationPolicy: 'Orphan' });
    });
    await client.create(made([['default', 'a']]));
    await cluster.eventually('it was deleted', () => deleted);
    await cluster.advance(longEnoughMs);
    expect(await ownersOf(cluster, 'a')).toEqual([]);
  });
});
