import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { coreKinds, kindText } from '../src/index.ts';

test('the built-in kinds are called what the server calls them', async () => {
  await using cluster = await testCluster();
  const served = await cluster.client.discover();
  const wrong = coreKinds.filter(
    (kind) =>
      !served.some(
        (resource) =>
          resource.group === kind.group &&
          resource.version === kind.version &&
          resource.kind === kind.kind &&
          resource.plural === kind.plural &&
          resource.scope === kind.scope,
      ),
  );
  expect(wrong.map(kindText)).toEqual([]);
});
