import { findCondition, Role, type KubeObject } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import { operandOperator } from '../src/operator.ts';
import { changeTo, configMap, operand, operandCluster, readyOperand } from './story.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const tenant = { serviceAccountName: 'deployer', serviceAccountNamespace: 'tenant' };
const inTenant = (name: string, data: Record<string, string> = {}) => configMap(name, data, { namespace: 'tenant' });
const all = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const without = (...verbs: readonly string[]) => all.filter((verb) => !verbs.includes(verb));
const rules = (verbs: readonly string[]) => [{ apiGroups: [''], resources: ['configmaps'], verbs }];

/** Well below the minute after which a refused Operand is looked at in any case. */
const soon = { withinMs: 10_000 };

function roleWith(verbs: readonly string[]): KubeObject {
  return { apiVersion, kind: 'Role', metadata: { namespace: 'tenant', name: 'config' }, rules: rules(verbs) };
}

function bindingOf(subjects: readonly KubeObject[] = []): KubeObject {
  return {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { namespace: 'tenant', name: 'config' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'tenant', name: 'deployer' }, ...subjects],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'config' },
  };
}

/** A cluster whose operator does nothing with rights of its own, and an account that may do this with ConfigMaps of its namespace. */
async function clusterWhereMay(verbs: readonly string[]): Promise<TestCluster> {
  const cluster = await operandCluster({
    embedded: { authorization: 'RBAC' },
    objects: [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'tenant', name: 'deployer' } },
      roleWith(verbs),
      bindingOf(),
    ],
  });
  await cluster.run(operandOperator.controllers({ flags: { 'require-service-account': 'true' }, env: {} }));
  return cluster;
}

/** The Operand once a condition of it tells of a missing right, when the first quick tries are over. */
async function refused(cluster: TestCluster, name: string, type: string): Promise<string> {
  const message = await cluster.eventually(`${name} says what it may not`, async () => {
    const condition = findCondition(await cluster.client.get(Operand, { name }), type);
    return condition?.status === 'False' && condition.message?.includes('cannot') ? condition.message : undefined;
  });
  await settle(cluster);
  return message;
}

/** Lets the first quick tries pass. Their waits double from 5 ms on: on virtual time the next one would end too late. */
async function settle(cluster: TestCluster): Promise<void> {
  await cluster.advance(cluster.type === 'embedded' ? 120_000 : 5_000);
}

async function allow(cluster: TestCluster, verbs: readonly string[] = all): Promise<void> {
  await cluster.client.patch(
    Role,
    { namespace: 'tenant', name: 'config' },
    { type: 'merge', body: { rules: rules(verbs) } },
  );
}

describe('an Operand whose account may not do something goes on within seconds of the right being given', () => {
  const readySoon = (cluster: TestCluster) =>
    cluster.eventually(
      'the right that is given wakes the Operand',
      async () => {
        const found = await cluster.client.get(Operand, { name: 'shop' });
        return findCondition(found, 'Ready')?.status === 'True' ? found : undefined;
      },
      soon,
    );

  test('to write a member', { timeout: 300_000 }, async () => {
    await using cluster = await clusterWhereMay(['get', 'list', 'watch']);
    await cluster.client.create(operand('shop', [inTenant('a')], tenant));
    expect(await refused(cluster, 'shop', 'OperandInstalled')).toContain('allow it with a role');
    await allow(cluster);
    await readySoon(cluster);
  });

  test('to read a source', { timeout: 300_000 }, async () => {
    await using cluster = await clusterWhereMay(without('get', 'list'));
    await cluster.client.create(inTenant('source', { all: JSON.stringify(inTenant('a')) }));
    const steadyStateFrom = [{ kind: 'ConfigMap', namespace: 'tenant', name: 'source' }];
    await cluster.client.create(operand('shop', [], { ...tenant, steadyStateFrom }));
    await refused(cluster, 'shop', 'OperandInstalled');
    await allow(cluster);
    await readySoon(cluster);
  });

  test('to prune what left the manifest', { timeout: 300_000 }, async () => {
    await using cluster = await clusterWhereMay(without('delete'));
    await cluster.client.create(operand('shop', [inTenant('a'), inTenant('b')], tenant));
    await readyOperand(cluster, 'shop');
    await changeTo(cluster, 'shop', [inTenant('a')]);
    await refused(cluster, 'shop', 'LatestActiveOperandReady');
    await allow(cluster);
    await readySoon(cluster);
  });

  test('to release what left the manifest', { timeout: 300_000 }, async () => {
    await using cluster = await clusterWhereMay(all);
    await cluster.client.create(operand('shop', [inTenant('a'), inTenant('b')], { ...tenant, prunePolicy: 'Orphan' }));
    await readyOperand(cluster, 'shop');
    await allow(cluster, without('patch'));
    await changeTo(cluster, 'shop', [inTenant('a')]);
    await refused(cluster, 'shop', 'OperandInstalled');
    await allow(cluster);
    await readySoon(cluster);
  });

  test('to show what a plan would change', { timeout: 300_000 }, async () => {
    await using cluster = await clusterWhereMay(['watch']);
    await cluster.client.create(operand('shop', [inTenant('a')], { ...tenant, mode: 'Plan' }));
    const planOf = async () => (await cluster.client.get(Operand, { name: 'shop' }))?.status?.plan?.join('\n') ?? '';
    await cluster.eventually('the plan says what it may not', async () => (await planOf()).includes('cannot get'));
    await settle(cluster);
    await allow(cluster);
    await cluster.eventually('the plan is shown', async () => (await planOf()).includes('1 to create'), soon);
  });

  test.each([
    ['with its objects', {}, without('delete')],
    ['without its objects', { deletionPolicy: 'Orphan' }, without('patch')],
  ])('to be deleted %s', { timeout: 300_000 }, async (_how, policy, verbs) => {
    await using cluster = await clusterWhereMay(all);
    const { client } = cluster;
    await client.create(operand('shop', [inTenant('a')], { ...tenant, ...policy }));
    await readyOperand(cluster, 'shop');
    await allow(cluster, verbs);
    await client.delete(Operand, { name: 'shop' });
    await refused(cluster, 'shop', 'OperandInstalled');
    await allow(cluster);
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })), soon);
  });
});
