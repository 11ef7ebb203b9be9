import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCluster, type TestCluster } from '@slipway/testing';
import { stringify } from 'yaml';

import { appPlatformController, type AppPlatformOptions } from '../src/controller.ts';
import { nativeHelmfile } from '../src/platform/native-helmfile.ts';
import { settingsFrom, type PlatformSettings } from '../src/settings.ts';
import { PlatformRoot } from '../src/values/platform-root.ts';
import type { Tree } from '../src/values/tree.ts';
import { canary, gitWorld, type GitWorld } from './git-kit.ts';

export const referencePlatform = new PlatformRoot(join(import.meta.dirname, '..', 'platform'));

export const initialValues: Tree = {
  cluster: { name: 'dev', domainSuffix: 'dev.example.com' },
  kms: { sops: { provider: 'age' } },
  apps: { gitea: { adminPassword: canary } },
  teamConfig: { red: { settings: { resourceQuota: { pods: 5 } } } },
};

/** A cluster, a Git server and the settings of an operator that knows both. */
export interface PlatformWorld extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly git: GitWorld;
  readonly settings: PlatformSettings;
  /** The controller as a process that starts anew would have it. */
  controller(change?: Partial<AppPlatformOptions>): ReturnType<typeof appPlatformController>;
  /** Another folder, as a pod that was started again has. */
  withFolder(name: string): PlatformSettings;
}

export async function platformWorld(values: Tree = initialValues): Promise<PlatformWorld> {
  const cluster = await testCluster({ time: 'machine' });
  const git = await gitWorld();
  const folder = await mkdtemp(join(tmpdir(), 'slipway-platform-'));
  const valuesFile = join(folder, 'values.yaml');
  await writeFile(valuesFile, stringify(values));
  const base = settingsFrom(
    { VALUES_INPUT: valuesFile, POLL_INTERVAL_MS: '50', MIN_TIMEOUT: '50', GIT_OP_TIMEOUT_MS: '60000' },
    folder,
  );
  const withFolder = (name: string): PlatformSettings => ({
    ...base,
    repoUrl: git.server.url,
    envDir: join(folder, name),
  });
  const settings = withFolder('env');
  return {
    cluster,
    git,
    settings,
    withFolder,
    controller: (change = {}) =>
      appPlatformController({
        settings,
        root: referencePlatform,
        helmfile: ({ client, clock }, layers) => nativeHelmfile({ root: referencePlatform, layers, client, clock }),
        ...change,
      }),
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      await git[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
