import { onReference, skipped } from '@slipway/testing';
import { expect, test } from 'vitest';

import type { AppPlatformOptions } from '../src/controller.ts';
import { nativeHelmfile } from '../src/platform/native-helmfile.ts';
import { readConfigMap } from '../src/state/records.ts';
import { isApplied } from './life.ts';
import { places, platformWorld, referencePlatform } from './platform-kit.ts';

const realOnly = skipped(
  !onReference,
  'on the embedded API server: a restart of the server in the middle of an apply (faults.test.ts has outages of it)',
);

test.skipIf(realOnly)(
  'API server restarts in the middle of an apply: the commit ends applied, and so does the next',
  { timeout: 300_000 },
  async () => {
    await using world = await platformWorld({ unshared: true, mayBeRefused: true });
    const { cluster } = world;
    let restarts = 0;
    let isArmed = false;
    const helmfile = (...[{ client, clock }, layers]: Parameters<AppPlatformOptions['helmfile']>) => {
      const real = nativeHelmfile({ root: referencePlatform, layers, client, clock });
      return {
        ...real,
        list: async (selection?: Parameters<typeof real.list>[0]) => {
          if (isArmed) {
            isArmed = false;
            restarts += 1;
            await cluster.restartApiServer();
          }
          return await real.list(selection);
        },
      };
    };
    await cluster.run([world.controller({ helmfile })]);
    await world.applied();
    const change = async (replicas: number) =>
      await world.git.push(
        { 'env/apps/console.yaml': `kind: AplApp\nspec:\n    enabled: true\n    replicas: ${replicas}\n` },
        'a change',
      );
    const applied = async (commit: string) =>
      await cluster.eventually('the commit, or one after it, is applied', async () => {
        const { status } = await readConfigMap(cluster.client, places.deployment);
        return status === 'deployed' && (await isApplied(world, commit));
      });
    isArmed = true;
    await applied(await change(3));
    expect(restarts).toBe(1);
    await applied(await change(4));
  },
);
