import { ConfigMap } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import { makeHealthyOn } from './member-health.ts';
import { LayoutWorld } from './layout-world.ts';
import { layouts } from './layouts.ts';
import { configMap, operand, operandCluster, readyOperand, runOperator } from './story.ts';

const storageClass = (name: string, volumeBindingMode: string) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'example.com/none',
  volumeBindingMode,
});

describe('with checkDeploymentHealth, members that wait for each other all get there, and post-install comes last', () => {
  test.each(layouts.map((layout) => [layout.name, layout] as const))('%s', async (_name, layout) => {
    await using cluster = await operandCluster({
      objects: [storageClass('late', 'WaitForFirstConsumer'), storageClass('immediate', 'Immediate')],
    });
    const { client } = cluster;
    const world = new LayoutWorld(layout, client, makeHealthyOn(cluster));
    await runOperator(cluster);
    await client.create(
      operand('layout', world.objects, { checkDeploymentHealth: true, postInstall: [configMap('done')] }),
    );
    const expected = layout.members.filter((member) => !member.needs?.includes('Deployment/nobody')).length;
    await cluster.eventually(
      'every member is healthy',
      async () => {
        // Custom resources nobody has looked at yet count as healthy; what runs does not.
        if (await client.get(ConfigMap, { namespace: 'default', name: 'done' })) expect(world.unfinished()).toEqual([]);
        await world.turn();
        return world.healthy.length === expected;
      },
      { withinMs: 120_000 },
    );
    const ready = await readyOperand(cluster, 'layout');
    expect(ready.status?.counts).toEqual({ total: world.objects.length + 1, applied: world.objects.length + 1 });
    // The real garbage collector notices a new kind after half a minute, which a deletion in the foreground waits for.
    if (cluster.type === 'reference') return;
    await client.delete(Operand, { name: 'layout' });
    await cluster.eventually('it can be deleted', async () => !(await client.get(Operand, { name: 'layout' })));
  });
});
