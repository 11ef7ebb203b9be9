import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { AplOperator } from '../../packages/app-platform/src/gitops/apl-operator.ts';
import { GitRepository } from '../../packages/app-platform/src/gitops/git-repository.ts';
import { remoteHeads, type RemoteHeads } from '../../packages/app-platform/src/git/remote-head.ts';
import { WorkingCopy } from '../../packages/app-platform/src/git/working-copy.ts';
import { reconcileInstall } from '../../packages/app-platform/src/install/installer.ts';
import { setEnvAndCreateSecrets } from '../../packages/app-platform/src/install/set-env-and-create-secrets.ts';
import { HelmfileCaches, nativeHelmfile } from '../../packages/app-platform/src/platform/native-helmfile.ts';
import type { Platform } from '../../packages/app-platform/src/platform/platform.ts';
import { platformMemory } from '../../packages/app-platform/src/platform/platform-memory.ts';
import { settingsFrom } from '../../packages/app-platform/src/settings.ts';
import { PlatformRoot } from '../../packages/app-platform/src/values/platform-root.ts';
import { yamlFile } from '../../packages/app-platform/src/values/yaml-file.ts';
import { connect, findConnection, systemClock, systemRandom } from '../../packages/kube/src/index.ts';
import { silentLogger } from '../../packages/runtime/src/index.ts';

const credentials = { username: 'otomi-admin', password: 'bench-password' };

export interface Size {
  /** Without those of the teams. */
  readonly releases: number;
  /** Each with a workload, which is a release. */
  readonly teams: number;
}

/** An installed platform of some size, as both sides find it. */
export interface BenchWorld extends AsyncDisposable {
  readonly folder: string;
  readonly kubeconfig: string;
  /** As the controller makes one for every round. */
  platform(): Platform;
  /** As a process has it that has just started: it remembers nothing but the key. */
  freshPlatform(): Platform;
  readonly operator: AplOperator;
  readonly heads: RemoteHeads;
  readonly copy: WorkingCopy;
  /** Somebody changes a team and pushes it. */
  pushTeam(): Promise<void>;
}

export async function benchWorld(size: Size): Promise<BenchWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-platform-'));
  const servers = await startServers(folder);
  const root = await writePlatform(join(folder, 'platform'), size);
  const valuesInput = join(folder, 'values.yaml');
  await writeFile(valuesInput, yamlFile(initialValues(size)));
  const connection = connect(await findConnection({ file: servers.kubeconfig }), { fieldManager: 'bench' });
  const settings = {
    ...settingsFrom({ VALUES_INPUT: valuesInput, GIT_OP_TIMEOUT_MS: '600000' }, folder),
    repoUrl: servers.gitUrl,
  };
  const remote = { url: servers.gitUrl, credentials };
  const workingCopy = (name: string) =>
    new WorkingCopy({
      directory: name,
      remote,
      branch: 'main',
      identity: { name: 'bench', email: 'bench@example.com' },
      timeoutMs: 600_000,
    });
  const copy = workingCopy(settings.envDir);
  const memory = platformMemory(root, settings.envDir);
  const { layers } = memory;
  const caches = new HelmfileCaches();
  const platform = (): Platform => ({
    ...memory,
    settings,
    root,
    directory: settings.envDir,
    helmfile: nativeHelmfile({ root, layers, client: connection.client, clock: systemClock, caches }),
    upgrades: [],
    repository: () => copy,
    client: connection.client,
    clock: systemClock,
    random: systemRandom,
    log: {
      ...silentLogger,
      error: (message, fields) => process.stderr.write(`${message} ${String(fields?.['error'])}\n`),
    },
    signal: new AbortController().signal,
  });
  if (!(await reconcileInstall(platform(), 1))) throw new Error('the platform could not be installed');
  await setEnvAndCreateSecrets(platform());
  const heads = remoteHeads(remote);
  const operator = new AplOperator(new GitRepository(copy, heads));
  await operator.start(platform());
  const user = workingCopy(join(folder, 'user'));
  let pushes = 0;
  return {
    folder,
    kubeconfig: servers.kubeconfig,
    platform,
    freshPlatform: () => ({ ...platform(), ...platformMemory(root, settings.envDir), keys: memory.keys }),
    operator,
    heads,
    copy,
    async pushTeam() {
      pushes += 1;
      await user.prepare();
      await user.takeRemote();
      const pods = `kind: AplTeamSettingSet\nmetadata:\n    name: team-0\n    labels:\n        apl.io/teamId: team-0\nspec:\n    resourceQuota:\n        pods: ${pushes}\n`;
      await writeFile(join(user.directory, 'env/teams/team-0/settings.yaml'), pods);
      await user.git(['commit', '--quiet', '-a', '-m', 'a team']);
      await user.atRemote(['push', '--quiet', 'origin', 'main']);
    },
    async [Symbol.asyncDispose]() {
      await heads[Symbol.asyncDispose]();
      await connection[Symbol.asyncDispose]();
      await servers.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startServers(folder: string): Promise<{ kubeconfig: string; gitUrl: string; stop(): Promise<void> }> {
  const args = [join(folder, 'git'), credentials.username, credentials.password];
  const child = spawn(process.execPath, [join(import.meta.dirname, 'servers-process.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { kubeconfig, gitUrl } = JSON.parse(line) as { kubeconfig: string; gitUrl: string };
  const file = join(folder, 'kubeconfig');
  await writeFile(file, kubeconfig);
  return {
    kubeconfig: file,
    gitUrl,
    async stop() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

/** The reference platform with as many more releases as it takes. */
async function writePlatform(folder: string, { releases }: Size): Promise<PlatformRoot> {
  await cp(join(import.meta.dirname, '..', '..', 'packages', 'app-platform', 'platform'), folder, { recursive: true });
  const own = 3;
  const more = Array.from(
    { length: releases - own },
    (_, index) =>
      `  - name: app-${index}\n    namespace: apps-${index % 10}\n    chart: ../charts/team-workload\n    values:\n      - image: registry.{{ .Values.cluster.domainSuffix }}/app-${index}\n        replicas: 2\n`,
  );
  await mkdir(join(folder, 'helmfile.d'), { recursive: true });
  await writeFile(join(folder, 'helmfile.d', 'helmfile-50.apps.yaml.gotmpl'), `releases:\n${more.join('')}`);
  return new PlatformRoot(folder);
}

function initialValues({ teams }: Size): Record<string, unknown> {
  const names = Array.from({ length: teams }, (_, index) => `team-${index}`);
  return {
    cluster: { name: 'bench', domainSuffix: 'bench.example.com' },
    kms: { sops: { provider: 'age' } },
    apps: { gitea: { adminPassword: credentials.password } },
    teamConfig: Object.fromEntries(
      names.map((name) => [
        name,
        {
          settings: { alertUrl: `https://alerts.example.com/${name}` },
          workloads: [{ name: 'web', image: `nginx:${name}` }],
        },
      ]),
    ),
  };
}
