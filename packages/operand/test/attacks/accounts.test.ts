import type { KubeError } from '@slipway/kube';
import { expect, test } from 'vitest';

import { configMap, operand, operandCluster } from '../story.ts';

const account = { serviceAccountName: 'deployer', serviceAccountNamespace: 'tenant' };

test('an Operand cannot name an account that would make another user, another group or another header of it', async () => {
  await using cluster = await operandCluster();
  const write = (extra: object) =>
    cluster.client.create(operand('shop', [configMap('a')], { ...account, ...extra }), { dryRun: true }).then(
      () => 'taken',
      (error: unknown) => (error as KubeError).code,
    );
  expect(await write({})).toBe('taken');
  for (const trick of [
    '',
    ' ',
    'system:admin',
    'kube-system:default',
    'a:b:c',
    'a\r\nimpersonate-group: system:masters',
    'a\nb',
    'a\n',
    'a\0',
    'a/b',
    '../a',
    'a%0d%0ab',
    'ä',
    'A',
    '*',
  ])
    for (const field of ['serviceAccountName', 'serviceAccountNamespace'])
      expect({ field, trick, answer: await write({ [field]: trick }) }).toEqual({ field, trick, answer: 422 });
});
