import { ConfigMap, type KubeObject } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { ClusterActiveOperand, Operand } from '../src/api.ts';
import { configMap, operand, operandCluster, readyOperand, runOperator } from './story.ts';

/** An Operand as a member that says nothing about what it holds. */
const mention = (name: string): KubeObject => ({
  apiVersion: Operand.apiVersion,
  kind: 'Operand',
  metadata: { name },
  spec: { checkDeploymentHealth: false },
});

/** Each in the one before, and the first in the last. */
const rings: [string, Operand][] = [
  ['itself', operand('a', [configMap('of-a'), mention('a')])],
  ['another one that contains it', operand('a', [configMap('of-a'), operand('b', [configMap('of-b'), mention('a')])])],
  [
    'one that contains it by way of a third',
    operand('a', [
      configMap('of-a'),
      operand('b', [configMap('of-b'), operand('c', [configMap('of-c'), mention('a')])]),
    ]),
  ],
];

describe('an Operand that contains', () => {
  test.each(rings)('%s can be deleted, with everything in it', async (_name, ring) => {
    await using cluster = await operandCluster();
    await using _ = await runOperator(cluster);
    await cluster.client.create(ring);
    await readyOperand(cluster, 'a');
    await cluster.client.delete(Operand, { name: 'a' });
    await cluster.eventually('all Operands are gone', async () => {
      const left: string[] = [];
      for await (const { metadata } of cluster.client.list(Operand)) left.push(metadata.name!);
      return left.length === 0 ? true : undefined;
    });
    for (const name of ['of-a', 'of-b', 'of-c'])
      expect(await cluster.client.get(ConfigMap, { namespace: 'default', name })).toBeUndefined();
    await cluster.eventually('no set is left', async () => {
      for await (const _set of cluster.client.list(ClusterActiveOperand)) return undefined;
      return true;
    });
  });
});
