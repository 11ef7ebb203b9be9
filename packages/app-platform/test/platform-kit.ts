import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicyRule } from '@slipway/kube';
import {
  grant,
  isInForce,
  onReference,
  RefusalTransport,
  testCluster,
  waitsForTime,
  type OtherCalls,
  type TestCluster,
} from '@slipway/testing';
import { stringify } from 'yaml';

import { appPlatformController, type AppPlatformOptions } from '../src/controller.ts';
import { runGit, type GitRunner } from '../src/git/git-process.ts';
import { WorkingCopy } from '../src/git/working-copy.ts';
import { names } from '../src/names.ts';
import { appPlatformOperator } from '../src/operator.ts';
import { nativeHelmfile } from '../src/platform/native-helmfile.ts';
import { settingsFrom, type PlatformSettings } from '../src/settings.ts';
import { readConfigMap } from '../src/state/records.ts';
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

/** Where the operator says what it does. */
export const places = {
  installation: { namespace: names.operatorNamespace, name: names.installationStatus },
  apply: { namespace: names.operatorNamespace, name: names.operatorState },
  deployment: { namespace: names.platformNamespace, name: names.deploymentStatus },
} as const;

/** A cluster, a Git server and the settings of an operator that knows both. */
export interface PlatformWorld extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly git: GitWorld;
  readonly settings: PlatformSettings;
  /** The controller as a process that starts anew would have it. */
  controller(change?: Partial<AppPlatformOptions>): ReturnType<typeof appPlatformController>;
  /** Another folder, as a pod that was started again has. */
  withFolder(name: string): PlatformSettings;
  /** What the last apply came to; with `commit`, of that commit. */
  applied(commit?: string): Promise<Record<string, string>>;
}

export interface PlatformWorldOptions {
  readonly values?: Tree;
  /** Environment variables beside those of every test. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the operator may do; everything else it is refused. Default: exactly what it says it needs. */
  readonly role?: readonly PolicyRule[];
  /** Being refused is no failure of the test: a server that has just begun knows no roles yet. Default false. */
  readonly mayBeRefused?: boolean;
  /** A real cluster of the test's own: for definitions that must not be there yet. Default false. */
  readonly unshared?: boolean;
}

// Whoever waits for the one before, who may wait for time, waits for time as well.
const exclusive = Reflect.get(WorkingCopy.prototype, 'exclusive') as WorkingCopy['exclusive'];
WorkingCopy.prototype.exclusive = function exclusiveInTime<T>(this: WorkingCopy, work: () => Promise<T>): Promise<T> {
  const myTurn = waitsForTime();
  return exclusive.call(this, () => {
    myTurn();
    return work();
  }) as Promise<T>;
};

/** Real time is dear: on the reference cluster nothing waits as long as it would for a user. */
const impatience = onReference ? { POLL_INTERVAL_MS: '50', MIN_TIMEOUT: '50' } : {};

export async function platformWorld(options: PlatformWorldOptions = {}): Promise<PlatformWorld> {
  const { values = initialValues, env = {}, role = operatorRole, mayBeRefused = false, unshared = false } = options;
  const cluster = await underRole(
    await testCluster({ outsideWork: true, unshared, embedded: { authorization: 'RBAC' } }),
    role,
    mayBeRefused,
  );
  const git = await gitWorld();
  const folder = await mkdtemp(join(tmpdir(), 'slipway-platform-'));
  const valuesFile = join(folder, 'values.yaml');
  await writeFile(valuesFile, stringify(values));
  const base = settingsFrom({ VALUES_INPUT: valuesFile, GIT_OP_TIMEOUT_MS: '60000', ...impatience, ...env }, folder);
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
    async applied(commit) {
      return await cluster.eventually(`an apply is through${commit ? ` with ${commit}` : ''}`, async () => {
        const state = await readConfigMap(cluster.client, places.apply);
        const through = state['status'] === 'succeeded' || state['status'] === 'failed';
        return through && (commit === undefined || state['commitHash'] === commit) ? state : undefined;
      });
    },
    async [Symbol.asyncDispose]() {
      await stopped(cluster);
      await git[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What `slipway rbac` gives every manager, but for what it needs in its own namespace. */
export const managerRole: readonly PolicyRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'update', 'patch'] },
];
/** What it gives this operator and its manager. */
export const operatorRole: readonly PolicyRule[] = [...appPlatformOperator.permissions, ...managerRole];

/**
 * The same cluster, on which operators are somebody with this role; what they were refused fails the test in the end. The client of the test stays
 * the administrator's.
 */
async function underRole(
  cluster: TestCluster,
  role: readonly PolicyRule[],
  mayBeRefused: boolean,
): Promise<TestCluster> {
  await grant(cluster, role);
  await isInForce(cluster, new RefusalTransport(cluster), role);
  const transports: RefusalTransport[] = [];
  const transport = () => {
    const made = new RefusalTransport(cluster);
    transports.push(made);
    return made;
  };
  return {
    ...cluster,
    transport,
    run: (controllers, options) => cluster.run(controllers, { cluster: { transport: transport() }, ...options }),
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      const refused = transports.flatMap((each) => [...each.refused]);
      if (refused.length > 0 && !mayBeRefused) throw new Error(`the operator was refused ${refused.join(', ')}`);
    },
  };
}

/** An operator in the middle of something may need time to end. */
async function stopped(cluster: TestCluster): Promise<void> {
  let done = false;
  const stopping = Promise.resolve(cluster[Symbol.asyncDispose]()).finally(() => (done = true));
  while (!done) await Promise.race([stopping, cluster.advance(100)]);
  await stopping;
}

/** Git calls that change something: where a process can die, and where others can come in between. */
const writing = new Set(['add', 'commit', 'push', 'pull', 'fetch', 'checkout', 'reset', 'init', 'config', 'clean']);

/** Git whose calls are among those a disturbance knows. */
export function disturbedGit(calls: OtherCalls): GitRunner {
  return async (args, options) => {
    const [verb = ''] = args;
    const call = { method: writing.has(verb) ? 'POST' : 'GET', path: `/git/${verb}` } as const;
    return await calls.around(call, () => runGit(args, options));
  };
}
