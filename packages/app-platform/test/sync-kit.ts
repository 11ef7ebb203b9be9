import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Namespace, newObject, type KubeObject } from '@slipway/kube';
import { testCluster, type TestCluster, type TestClusterOptions } from '@slipway/testing';

import { ensureApplicationKind } from '../src/argo/application-definition.ts';
import { Application, type ApplicationStatus } from '../src/argo/application.ts';
import { GitError } from '../src/git/git-error.ts';
import { nativeSyncController, type NativeSyncController } from '../src/sync/controller.ts';
import type { SourceStore } from '../src/sync/source/git-sources.ts';
import { writeFiles } from './git-kit.ts';

export type Files = Readonly<Record<string, string | undefined>>;

/** A repository without Git: each push is a folder of its own. */
export interface FakeRepository extends AsyncDisposable {
  readonly store: SourceStore;
  /** Replaces all files. Gives the commit. */
  push(files: Files): Promise<string>;
  /** The server does not answer. */
  isDown: boolean;
}

export async function fakeRepository(): Promise<FakeRepository> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-sources-'));
  let head = '';
  const repository: FakeRepository = {
    isDown: false,
    store: {
      forget: () => undefined,
      async resolve() {
        if (repository.isDown) throw new GitError('Unreachable', 'the Git server does not answer');
        return { commit: head, ref: 'HEAD' };
      },
      use: async (_url, { commit }, _credentials, _signal, work) => await work(join(folder, commit)),
    },
    async push(files) {
      head = createHash('sha1').update(JSON.stringify(files)).digest('hex');
      await mkdir(join(folder, head), { recursive: true });
      await writeFiles(join(folder, head), files);
      return head;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
  return repository;
}

export interface SyncWorld extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly repository: FakeRepository;
  controller(): NativeSyncController;
  status(name?: string): Promise<ApplicationStatus>;
  /** Waits until the last operation is over and the Application says so. */
  settled(commit?: string, name?: string): Promise<ApplicationStatus>;
}

export const syncSettings = {
  envDir: '/nowhere/env',
  repoUrl: 'http://git.example.com/otomi/values.git',
  syncIntervalMs: 180_000,
  gitTimeoutMs: 60_000,
};

/** A cluster that knows Applications and has the namespaces tests use. */
export async function syncCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const cluster = await testCluster({ ...options });
  let isDone = false;
  const ready = ensureApplicationKind({ ...cluster, signal: new AbortController().signal }).then(() => (isDone = true));
  await cluster.eventually('Applications are known', () => isDone);
  await ready;
  for (const name of ['argocd', 'shop'])
    if (!(await cluster.client.get(Namespace, { name })))
      await cluster.client.create(newObject(Namespace, { metadata: { name } }));
  return cluster;
}

export async function syncWorld(options: TestClusterOptions = {}): Promise<SyncWorld> {
  const cluster = await syncCluster(options);
  const repository = await fakeRepository();
  const status = async (name = 'shop'): Promise<ApplicationStatus> =>
    (await cluster.client.get(Application, { namespace: 'argocd', name }))?.status ?? {};
  return {
    cluster,
    repository,
    controller: () => nativeSyncController({ settings: syncSettings, sources: repository.store }),
    status,
    settled: async (commit, name) =>
      await cluster.eventually('a synchronization is over', async () => {
        const now = await status(name);
        const { operationState: state, sync } = now;
        if (state === undefined || state.phase === 'Running') return undefined;
        if (commit !== undefined && (sync?.revision !== commit || state.syncResult.revision !== commit))
          return undefined;
        return now;
      }),
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      await repository[Symbol.asyncDispose]();
    },
  };
}

export function application(spec: object = {}, metadata: object = {}): Application {
  return newObject(Application, {
    metadata: { namespace: 'argocd', name: 'shop', ...metadata },
    spec: {
      project: 'default',
      destination: { server: 'https://kubernetes.default.svc', namespace: 'shop' },
      source: { repoURL: 'https://git.example.com/shop.git', path: 'app', targetRevision: 'main' },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
      ...spec,
    },
  });
}

export function configMap(name: string, data: string, annotations: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, annotations },
    data: { value: data },
  });
}

export function hookJob(name: string, annotations: Readonly<Record<string, string>>): string {
  const container = { name: 'main', image: 'busybox' };
  const job: KubeObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, annotations },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } },
  };
  return JSON.stringify(job);
}
