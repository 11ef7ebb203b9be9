import { silentLogger } from '@slipway/runtime';
import { expect, test } from 'vitest';

import type { DeploymentState } from '../state/deployment-state.ts';
import type { Platform } from './platform.ts';
import { runtimeUpgrade, type RuntimeUpgrade } from './runtime-upgrade.ts';

async function upgraded(state: DeploymentState, when: 'pre' | 'post' = 'pre'): Promise<string[]> {
  const done: string[] = [];
  const operation = (version: string): RuntimeUpgrade => ({
    version,
    pre: async () => void done.push(`pre ${version}`),
    post: async () => void done.push(`post ${version}`),
  });
  const platform = {
    upgrades: ['1.0.0', '1.1.0', '2.0.0', '2.1.0'].map(operation),
    helmfile: {
      template: async ({ selectors = [] }: { selectors?: readonly string[] }) => {
        done.push(`essential ${selectors.join()}`);
        return '';
      },
    },
    log: silentLogger,
  } as unknown as Platform;
  await runtimeUpgrade(platform, when, state);
  return done;
}

test('runtimeUpgrade(pre): everything after the deployed version, up to the one that comes, after the essential manifests', async () => {
  expect(await upgraded({ version: '1.0.0', deployingVersion: 'v2.0.0-rc.1' })).toEqual([
    'essential upgrade=true',
    'pre 1.1.0',
    'pre 2.0.0',
  ]);
});

test('runtimeUpgrade(post): the same versions', async () => {
  expect(await upgraded({ version: '2.0.0', deployingVersion: '2.1.0' }, 'post')).toEqual([
    'essential upgrade=true',
    'post 2.1.0',
  ]);
});

test('runtimeUpgrade: the first installation, the same version and an older one upgrade nothing', async () => {
  expect(await upgraded({ deployingVersion: '2.0.0' })).toEqual([]);
  expect(await upgraded({ version: '2.0.0', deployingVersion: '2.0.0' })).toEqual([]);
  expect(await upgraded({ version: '2.0.0', deployingVersion: '1.0.0' })).toEqual([]);
});

test('runtimeUpgrade: a version nobody can read is an error', async () => {
  await expect(upgraded({ version: 'latest', deployingVersion: '2.0.0' })).rejects.toThrow("'latest' is no version");
});
