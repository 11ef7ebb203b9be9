import { ConfigMap, type TransportRequest } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { Operand } from '../src/api.ts';
import { watchInvariants } from './invariants.ts';
import { changeTo, configMap, operand, operandCluster, readyOperand, runOperator } from './story.ts';

const isWriteOf = (request: TransportRequest, end: string) =>
  request.method !== 'GET' && request.path.replace(/\?.*/, '').endsWith(end);

describe('a write that is on its way when the spec changes', () => {
  test.each([
    { what: 'is kept', postInstall: [configMap('after', { value: '2' })], left: { value: '2' } },
    { what: 'is taken back', postInstall: [], left: undefined },
  ])('$what as the new spec says, and its run says nothing about the new generation', async ({ postInstall, left }) => {
    await using cluster = await operandCluster();
    const invariants = watchInvariants(cluster);
    const installedAt: (number | undefined)[] = [];
    let changed = false;
    await runOperator(cluster, async (request, phase) => {
      if (!changed && phase === 'before' && isWriteOf(request, '/configmaps/after')) {
        changed = true;
        await changeTo(cluster, 'shop', [configMap('a', { value: '2' })], { postInstall });
      }
      // Every status that is told from then on, up to the first about the new generation.
      if (changed && phase === 'after' && isWriteOf(request, '/operands/shop/status')) {
        const { status } = (await cluster.client.get(Operand, { name: 'shop' })) as Operand;
        if (installedAt.length === 0 || status?.observedGeneration === 1)
          installedAt.push(status?.latestInstalledSteadyStateGeneration);
      }
    });
    await cluster.client.create(
      operand('shop', [configMap('a')], { postInstall: [configMap('after', { value: '1' }), configMap('later')] }),
    );
    await cluster.eventually('the spec has changed', () => changed);

    const shop = await readyOperand(cluster, 'shop');

    expect(shop.metadata.generation).toBe(2);
    // The stale run's own word was refused: what was told first is still about generation 1.
    expect(installedAt[0]).toBe(1);
    const data = async (name: string) => (await cluster.client.get(ConfigMap, { namespace: 'default', name }))?.data;
    expect(await data('after')).toEqual(left);
    expect(await cluster.client.get(ConfigMap, { namespace: 'default', name: 'later' })).toBeUndefined();
    invariants.verify();
  });
});
