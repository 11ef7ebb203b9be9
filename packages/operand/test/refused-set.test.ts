import { findCondition } from '@slipway/kube';
import { expect, test } from 'vitest';

import { ActiveOperand, Operand } from '../src/api.ts';
import { configMap, operand, operandCluster, readyOperand, runOperator } from './story.ts';

test('an ActiveOperand that is refused shows on the Operand, and the Operand goes on once it is not', async () => {
  await using cluster = await operandCluster();
  let refuses = true;
  await using _ = await runOperator(cluster, (request, phase) => {
    if (refuses && phase === 'before' && request.method === 'POST' && request.path.includes('/activeoperands'))
      throw new Error('activeoperands are not wanted in default');
  });
  await cluster.client.create(operand('shop', [configMap('a')]));
  const told = await cluster.eventually(
    'the Operand says what is refused',
    async () => {
      const found = await cluster.client.get(Operand, { name: 'shop' });
      const condition = found && findCondition(found, 'LatestActiveOperandReady');
      return condition?.message?.includes('not wanted in default') ? condition : undefined;
    },
    { withinMs: 60_000 },
  );
  expect(told).toMatchObject({ status: 'Unknown', reason: 'Creating' });
  expect(told.message).toMatch(/^sha256-\w+ does not own its members yet: ns: default, err /);
  refuses = false;
  await readyOperand(cluster, 'shop');
  expect(
    await cluster.client.get(ActiveOperand, { namespace: 'default', name: told.message!.split(' ')[0]! }),
  ).toBeDefined();
});
