import { silentLogger } from '@slipway/runtime';
import { expect, test } from 'vitest';

import { impatientClock } from '../../test/git-kit.ts';
import type { DeploymentState } from '../state/deployment-state.ts';
import type { Platform } from './platform.ts';
import { ReadManifests } from './read-manifests.ts';
import { runtimeUpgrade, type RuntimeUpgrade } from './runtime-upgrade.ts';

const withoutFile = { optional: async () => ({}) };

async function upgraded(state: DeploymentState, when: 'pre' | 'post' = 'pre'): Promise<string[]> {
  const done: string[] = [];
  const operation = (version: string): RuntimeUpgrade => ({
    version,
    pre: async () => void done.push(`pre ${version}`),
    post: async () => void done.push(`post ${version}`),
  });
  const platform = {
    root: withoutFile,
    upgrades: ['1.0.0', '1.1.0', '2.0.0', '2.1.0'].map(operation),
    helmfile: {
      template: async ({ selectors = [] }: { selectors?: readonly string[] }) => {
        done.push(`essential ${selectors.join()}`);
        return '';
      },
    },
    manifests: new ReadManifests(),
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

/** A platform with these Applications, each with what its status says at every look. */
function withApplications(applications: Record<string, string[]>, upgrade: Partial<RuntimeUpgrade>) {
  const looks: string[] = [];
  const warnings: string[] = [];
  const platform = {
    root: withoutFile,
    upgrades: [{ version: '2.0.0', ...upgrade }],
    helmfile: { template: async () => '' },
    manifests: new ReadManifests(),
    settings: { retries: 2, minTimeoutMs: 30_000 },
    clock: impatientClock(),
    log: { ...silentLogger, warn: (text: string) => void warnings.push(text) },
    client: {
      async *list() {
        for (const name of Object.keys(applications)) yield { metadata: { name } };
      },
      async get(_kind: unknown, { name }: { name: string }) {
        const [sync, health] = (applications[name]!.shift() ?? 'Unknown Unknown').split(' ');
        looks.push(name);
        return { status: { sync: { status: sync }, health: { status: health } } };
      },
    },
  } as unknown as Platform;
  const run = (when: 'pre' | 'post') => runtimeUpgrade(platform, when, { version: '1.0.0', deployingVersion: '2.0.0' });
  return { run, looks, warnings };
}

test('runtimeUpgrade of an application: by a part of its name, after it is in sync and healthy, at its own moment', async () => {
  const done: string[] = [];
  const states = ['OutOfSync Healthy', 'Synced Progressing', 'Synced Healthy'];
  const { run, looks } = withApplications(
    { 'istio-system-istiod': states, 'console-console': [] },
    {
      applications: {
        istiod: { post: async () => void done.push('post istiod') },
        absent: { post: async () => void done.push('never') },
      },
    },
  );
  await run('pre');
  expect([done, looks]).toEqual([[], []]);
  await run('post');
  expect(done).toEqual(['post istiod']);
  expect(looks).toHaveLength(3);
});

test('runtimeUpgrade of an application: one that fails or stays unwell keeps neither the others nor the upgrade', async () => {
  const done: string[] = [];
  const failing = async () => {
    throw new Error('no');
  };
  const { run, warnings } = withApplications(
    { 'a-well': ['Synced Healthy'], 'b-broken': ['Synced Healthy'], 'c-unwell': [] },
    {
      applications: {
        unwell: { pre: async () => void done.push('never') },
        broken: { pre: failing },
        well: { pre: async () => void done.push('pre well') },
      },
    },
  );
  await run('pre');
  expect(done).toContain('pre well');
  expect(done).not.toContain('never');
  expect(warnings).toHaveLength(2);
});
