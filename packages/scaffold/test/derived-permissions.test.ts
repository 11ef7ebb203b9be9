import { rbacObjects } from '@slipway/cli';
import {
  Deployment,
  isConditionTrue,
  type Condition,
  type DefinedKind,
  type KubeObject,
  type PolicyRule,
  type Transport,
} from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';
import { onReference, skipped, testCluster, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { operatorOf, workshop } from './kit.ts';

const namespace = 'slipway-system';
const key = { namespace: 'default', name: 'first' };
const owned = { namespace: 'default', name: 'website-first' };

/** The way in of an account: the administrator acts as it, so that its rights alone count. */
function actingAs(inner: Transport, user: string): Transport {
  const as = { 'impersonate-user': user };
  return {
    send: (request, signal) => inner.send({ ...request, headers: { ...request.headers, ...as } }, signal),
    open: (request, handler) => inner.open({ ...request, headers: { ...request.headers, ...as } }, handler),
    close: () => inner.close(),
  };
}

/** A cluster on which the operator runs under its own account, with the permissions `slipway rbac` prints. */
async function underItsAccount(operator: OperatorDescription): Promise<{ cluster: TestCluster; logs: () => string }> {
  const cluster = await testCluster({
    kinds: operator.kinds,
    controllers: 'workloads',
    embedded: { authorization: 'RBAC' },
  });
  const home: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  for (const object of [home, ...rbacObjects([operator], { namespace })]) await cluster.client.apply(object);
  const user = `system:serviceaccount:${namespace}:slipway-${operator.name}`;
  const running = await cluster.run(operator.controllers({ flags: {}, env: {} }), {
    cluster: { transport: actingAs(cluster.transport(), user) },
    leaderElection: { namespace, name: 'operator' },
  });
  return {
    cluster,
    logs: () => JSON.stringify(running.logs.map(({ message, fields }) => [message, String(fields['error'])])),
  };
}

async function createFirst(cluster: TestCluster, kind = 'Website'): Promise<void> {
  const spec = { image: 'registry.k8s.io/pause:3.10', replicas: 2 };
  await cluster.client.create({ apiVersion: 'example.org/v1', kind, metadata: key, spec });
}

async function isReady(cluster: TestCluster, kind: DefinedKind): Promise<boolean> {
  const found = (await cluster.client.get(kind, key)) as { status?: { conditions?: Condition[] } } | undefined;
  return isConditionTrue(found, 'Ready');
}

test('a new operator leads its objects through their life under exactly the derived permissions', async () => {
  await using place = await workshop();
  const operator = await operatorOf(await place.project('my-operator'));
  const { cluster, logs } = await underItsAccount(operator);
  await using _cluster = cluster;
  const [kind] = operator.kinds;
  await createFirst(cluster);
  await cluster.eventually('it is ready', () => isReady(cluster, kind!));
  await cluster.client.delete(Deployment, owned);
  await cluster.eventually('it heals', () => cluster.client.get(Deployment, owned));
  await cluster.client.delete(kind!, key);
  await cluster.eventually('it is gone', async () => (await cluster.client.get(Deployment, owned)) === undefined);
  expect(logs()).not.toMatch(/forbidden/i);
});

test('objects of two kinds with one name do not get into each other’s way', async () => {
  await using place = await workshop();
  const operator = await operatorOf(await place.project('harbour', '--kind', 'Boat', '--kind', 'Pier'));
  const { cluster, logs } = await underItsAccount(operator);
  await using _cluster = cluster;
  for (const { kind } of operator.kinds) await createFirst(cluster, kind);
  for (const kind of operator.kinds) await cluster.eventually(`${kind.kind} is ready`, () => isReady(cluster, kind));
  expect(logs()).not.toMatch(/forbidden|immutable/i);
});

const virtualTime = skipped(
  onReference,
  'on the real API server: an operator that lacks a permission, which waits for long',
);

test.skipIf(virtualTime)('without one of them it does not get there', async () => {
  await using place = await workshop();
  const operator = await operatorOf(await place.project('my-operator'));
  const isStatus = ({ resources }: PolicyRule) => resources?.includes('websites/status') ?? false;
  const permissions = operator.permissions.filter((rule) => !isStatus(rule));
  expect(permissions).toHaveLength(operator.permissions.length - 1);
  const { cluster, logs } = await underItsAccount({ ...operator, permissions });
  await using _cluster = cluster;
  await createFirst(cluster);
  await cluster.eventually('it is refused', () => /cannot patch resource .*websites\/status/.test(logs()));
  expect(await isReady(cluster, operator.kinds[0]!)).toBe(false);
});
