import { gzipSync } from 'node:zlib';
import { ClusterRoleBinding, ConfigMap, findCondition, isConditionTrue, Secret, type KubeObject } from '@slipway/kube';
import type { TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import { configMap, operand, operandCluster, readyOperand, runOperator } from './story.ts';

const at = (name: string) => ({ namespace: 'default', name });
const password = (value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: at('password'),
  stringData: { value },
});
const rules = [
  { kind: 'ConfigMap', current: { path: '.metadata.uid' }, failed: { path: '.data.state', equals: 'broken' } },
];
const escalation: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'tenant-is-admin' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'tenant' }],
};

/** A cluster with an Operand that is ready, and whose manifest is kept in one Secret. */
async function keptStory(cluster: TestCluster): Promise<Secret> {
  const { client } = cluster;
  await runOperator(cluster);
  await client.create(
    operand('shop', [configMap('a', { state: 'good' }), password('first')], {
      checkDeploymentHealth: true,
      onFailure: 'Rollback',
      healthRules: rules,
    }),
  );
  await readyOperand(cluster, 'shop');
  await cluster.eventually('the manifest is kept', async () =>
    isConditionTrue(await client.get(Operand, { name: 'shop' }), 'RollbackPossible'),
  );
  const kept = await Array.fromAsync(client.list(Secret, { namespace: 'default' }));
  return kept.find(({ type }) => type === 'operand.slipway.dev/manifest')!;
}

async function fail({ client }: TestCluster): Promise<void> {
  const steadyState = [configMap('a', { state: 'broken' }), password('second')];
  await client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { spec: { steadyState } } });
}

async function unusable(cluster: TestCluster, reason: string): Promise<string> {
  return await cluster.eventually(`RollbackPossible says ${reason}`, async () => {
    const found = findCondition(await cluster.client.get(Operand, { name: 'shop' }), 'RollbackPossible');
    return found?.reason === reason ? found.message : undefined;
  });
}

describe('a manifest that is kept for a roll-back', () => {
  test.each<[string, Buffer]>([
    ['a manifest of a tenant', gzipSync(JSON.stringify({ steadyState: [escalation], postInstall: [] }))],
    ['something that unpacks to a hundred megabytes', gzipSync(Buffer.alloc(100 * 1024 * 1024, ' '))],
    ['something that cannot be unpacked', Buffer.from('no gzip')],
  ])('is never applied when its Secret holds %s', async (_what, content) => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const kept = await keptStory(cluster);
    const data = { manifest: content.toString('base64') };
    await client.patch(Secret, at(kept.metadata.name!), { type: 'merge', body: { data } });
    await fail(cluster);
    const message = await unusable(cluster, 'KeptManifestTampered');
    expect(message).toContain(`default/${kept.metadata.name}`);
    await cluster.advance(5_000);
    expect(await client.get(ClusterRoleBinding, { name: 'tenant-is-admin' })).toBeUndefined();
    expect((await client.get(ConfigMap, at('a')))?.data).toEqual({ state: 'broken' });

    const steadyState = [configMap('a', { state: 'good' }), password('third')];
    await client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { spec: { steadyState } } });
    await readyOperand(cluster, 'shop');
    await cluster.eventually('the new manifest is kept', async () =>
      isConditionTrue(await client.get(Operand, { name: 'shop' }), 'RollbackPossible'),
    );
  });

  test('is never applied when its Secret holds an earlier one, which was once right', async () => {
    await using cluster = await operandCluster();
    const { client } = cluster;
    const earlier = await keptStory(cluster);
    const steadyState = [configMap('a', { state: 'better' }), password('second')];
    await client.patch(Operand, { name: 'shop' }, { type: 'merge', body: { spec: { steadyState } } });
    await readyOperand(cluster, 'shop');
    const kept = await cluster.eventually('the new manifest is kept', async () => {
      const secrets = await Array.fromAsync(client.list(Secret, { namespace: 'default' }));
      return secrets.find(
        ({ type, data }) => type === earlier.type && data?.['manifest'] !== earlier.data?.['manifest'],
      );
    });
    await cluster.eventually('it can be gone back to', async () =>
      isConditionTrue(await client.get(Operand, { name: 'shop' }), 'RollbackPossible'),
    );
    await client.patch(Secret, at(kept.metadata.name!), { type: 'merge', body: { data: earlier.data } });
    await fail(cluster);
    expect(await unusable(cluster, 'KeptManifestTampered')).toContain(`default/${kept.metadata.name}`);
    await cluster.advance(5_000);
    expect((await client.get(ConfigMap, at('a')))?.data).toEqual({ state: 'broken' });
  });

  test('that is gone is told', async () => {
    await using cluster = await operandCluster();
    const kept = await keptStory(cluster);
    await cluster.client.delete(Secret, at(kept.metadata.name!));
    await fail(cluster);
    expect(await unusable(cluster, 'KeptManifestGone')).toContain('is gone');
  });
});
