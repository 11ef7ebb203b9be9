import type { Client } from '@slipway/kube';
import { expect, test } from 'vitest';

import { stepPlatform } from '../../test/step-kit.ts';
import { reconcileInstall } from './installer.ts';

test('an attempt that could not even say that it begins has not failed: nothing is written', async () => {
  const client = {
    get: async () => {
      throw new Error('the server is away');
    },
    apply: async () => expect.unreachable('something was written'),
  } as unknown as Client;
  await using step = await stepPlatform({ client });
  expect(await reconcileInstall(step.platform, 1)).toBe(false);
  expect(step.logs.map(({ message }) => message)).toEqual(['Installation failed']);
});
