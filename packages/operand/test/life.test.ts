import { ConfigMap, Deployment, isConditionTrue, type KubeObject } from '@slipway/kube';
import { testCluster, type TestCluster } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { activeOperandControllers } from '../src/active/controllers.ts';
import { ActiveOperand, ClusterActiveOperand, Operand } from '../src/api.ts';
import { operandController } from '../src/operand/controller.ts';

const kinds = [Operand, ClusterActiveOperand, ActiveOperand];

export function configMap(namespace: string, name: string, data: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data };
}

export function operand(name: string, steadyState: KubeObject[], extra: Record<string, unknown> = {}): Operand {
  return {
    apiVersion: Operand.apiVersion,
    kind: 'Operand',
    metadata: { name },
    spec: { checkDeploymentHealth: false, steadyState, ...extra },
  } as unknown as Operand;
}

export async function readyOperand(cluster: TestCluster, name: string): Promise<Operand> {
  return await cluster.eventually(`Operand ${name} is ready`, async () => {
    const found = await cluster.client.get(Operand, { name });
    return found && isConditionTrue(found, 'Ready') && found.status?.observedGeneration === found.metadata.generation
      ? found
      : undefined;
  });
}

describe('the life of an Operand', () => {
  test('install, change, prune, delete', async () => {
    await using cluster = await testCluster({ kinds });
    await cluster.run([operandController(), ...activeOperandControllers()]);
    const { client } = cluster;

    await client.create(operand('shop', [configMap('default', 'a', { v: '1' }), configMap('default', 'b')]));
    const first = await readyOperand(cluster, 'shop');
    const a = await client.get(ConfigMap, { namespace: 'default', name: 'a' });
    expect(a?.data).toEqual({ v: '1' });
    expect(a?.metadata.ownerReferences?.map((owner) => owner.name)).toEqual([first.status?.latestReadyActiveOperand]);

    await client.patch(
      Operand,
      { name: 'shop' },
      {
        type: 'merge',
        body: { spec: { steadyState: [configMap('default', 'a', { v: '2' }), configMap('default', 'c')] } },
      },
    );
    await cluster.eventually(
      'b is pruned',
      async () => !(await client.get(ConfigMap, { namespace: 'default', name: 'b' })),
    );
    const second = await readyOperand(cluster, 'shop');
    expect(second.status?.latestReadyActiveOperand).not.toBe(first.status?.latestReadyActiveOperand);
    const changed = await client.get(ConfigMap, { namespace: 'default', name: 'a' });
    expect(changed?.metadata.uid).toBe(a?.metadata.uid);
    expect(changed?.data).toEqual({ v: '2' });

    await client.delete(Operand, { name: 'shop' });
    await cluster.eventually('the Operand is gone', async () => !(await client.get(Operand, { name: 'shop' })));
    for (const name of ['a', 'c']) expect(await client.get(ConfigMap, { namespace: 'default', name })).toBeUndefined();
    for await (const left of client.list(ClusterActiveOperand)) throw new Error(`left behind: ${left.metadata.name}`);
  });

  test('a member deleted or edited by hand comes back', async () => {
    await using cluster = await testCluster({ kinds });
    await cluster.run([operandController(), ...activeOperandControllers()]);
    const { client } = cluster;
    await client.create(operand('shop', [configMap('default', 'a', { v: '1' })]));
    await readyOperand(cluster, 'shop');
    await client.delete(ConfigMap, { namespace: 'default', name: 'a' });
    await cluster.eventually(
      'a is back',
      async () => await client.get(ConfigMap, { namespace: 'default', name: 'a' }),
      { withinMs: 2_000 },
    );
    await client.patch(
      ConfigMap,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { data: { v: 'evil' } } },
    );
    await cluster.eventually(
      'a is right again',
      async () => (await client.get(ConfigMap, { namespace: 'default', name: 'a' }))?.data?.['v'] === '1',
      { withinMs: 2_000 },
    );
  });

  test('post-install waits for the steady state', async () => {
    await using cluster = await testCluster({ kinds, controllers: 'workloads' });
    await cluster.run([operandController(), ...activeOperandControllers()]);
    const { client } = cluster;
    const labels = { app: 'web' };
    const deployment: KubeObject = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      },
    };
    await client.create(
      operand('shop', [deployment], { checkDeploymentHealth: true, postInstall: [configMap('default', 'after')] }),
    );
    await readyOperand(cluster, 'shop');
    const web = await client.get(Deployment, { namespace: 'default', name: 'web' });
    expect(isConditionTrue(web, 'Available')).toBe(true);
    const after = await client.get(ConfigMap, { namespace: 'default', name: 'after' });
    expect(after).toBeDefined();
  });
});
