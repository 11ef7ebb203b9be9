import { ConfigMap } from '@slipway/kube';
import { onReference, skipped, type TestCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { carryOverIn } from '../src/operand/carry-over.ts';
import {
  changeTo,
  configMap,
  deployment,
  operand,
  operandCluster,
  operandWithReason,
  readyOperand,
  runOperator,
  setsOf,
} from './story.ts';

const count = 3300;
const many = Array.from({ length: count }, (_, i) => configMap(`${'x'.repeat(200)}-${i}`));
/** More than the server stores in one object beside a list of `many`. */
const large = configMap('large', { text: 'x'.repeat(900_000) });

async function members({ client }: TestCluster): Promise<ConfigMap[]> {
  return await Array.fromAsync(client.list(ConfigMap, { labelSelector: 'manifests.slipway.dev/member' }));
}

const leftOut = skipped(
  onReference || process.env['SLIPWAY_SWEEP'] !== 'full',
  `an Operand that makes ${count} objects and takes them away, which takes seconds (npm run test:sweep)`,
);

test.skipIf(leftOut)(
  `a set that was never ready makes way with all of its ${count} members, which are noted packed and pruned`,
  { timeout: 300_000 },
  async () => {
    // Nobody brings the Deployment up: the set has all its members, and is not ready.
    await using cluster = await operandCluster({ controllers: 'core' });
    let packed = 0;
    await runOperator(cluster, ({ path, body }, phase) => {
      if (phase === 'after' && path.includes('/operands/shop/status') && String(body).includes('"carryOverPacked":"'))
        packed += 1;
    });
    await cluster.client.create(operand('shop', [...many, deployment('web')], { checkDeploymentHealth: true }));
    await operandWithReason(cluster, 'shop', 'Waiting');
    expect(await members(cluster)).toHaveLength(count);
    const [set] = await setsOf(cluster);
    expect(JSON.stringify([large, set?.spec.live]).length).toBeGreaterThan(1.5 * 1024 * 1024);

    await changeTo(cluster, 'shop', [large], { checkDeploymentHealth: false });
    const { status } = await readyOperand(cluster, 'shop');
    expect(packed).toBeGreaterThan(0);
    expect(carryOverIn(status)).toEqual([]);
    expect((await members(cluster)).map(({ metadata }) => metadata.name)).toEqual(['large']);
  },
);
