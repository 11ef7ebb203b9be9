import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ConfigMap, Namespace, newObject, StatefulSet } from '@slipway/kube';
import { testCluster, type TestCluster, type TestClusterOptions, type TestManager } from '@slipway/testing';

import { ensureApplicationKind } from '../src/argo/application-definition.ts';
import { Application, type ApplicationStatus } from '../src/argo/application.ts';
import { argo } from '../src/argo/words.ts';
import { GitError } from '../src/git/git-error.ts';
import { nativeSyncController } from '../src/sync/controller.ts';
import type { SourceStore } from '../src/sync/source/git-sources.ts';
import { RenderedSources } from '../src/sync/source/rendered-sources.ts';
import { writeFiles } from './git-kit.ts';

export type Files = Readonly<Record<string, string | undefined>>;

/** Repositories without Git: each push is a folder of its own. */
export interface FakeRepositories extends AsyncDisposable {
  readonly store: SourceStore;
  /** Replaces all files of a repository. Gives the commit. */
  push(url: string, files: Files): Promise<string>;
  /** Repositories whose server does not answer. */
  readonly down: Set<string>;
  /** Resolves when no files are being read: virtual time must not run away from the disk. */
  idle(): Promise<void>;
}

export async function fakeRepositories(): Promise<FakeRepositories> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-sources-'));
  const heads = new Map<string, string>();
  const written = new Set<string>();
  const down = new Set<string>();
  const reading = new Set<Promise<unknown>>();
  return {
    down,
    async idle() {
      while (reading.size > 0) await Promise.allSettled(reading);
    },
    store: {
      forget: () => undefined,
      async resolve(url) {
        if (down.has(url)) throw new GitError('Unreachable', 'the Git server does not answer');
        return { commit: heads.get(url) ?? '', ref: 'HEAD' };
      },
      async use(_url, { commit }, _credentials, _signal, work) {
        const read = work(join(folder, commit));
        reading.add(read);
        return await read.finally(() => reading.delete(read));
      },
    },
    async push(url, files) {
      const commit = createHash('sha1').update(JSON.stringify(files)).digest('hex');
      if (!written.has(commit)) {
        await mkdir(join(folder, commit), { recursive: true });
        await writeFiles(join(folder, commit), files);
        written.add(commit);
      }
      heads.set(url, commit);
      return commit;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

export const syncSettings = {
  envDir: '/nowhere/env',
  repoUrl: 'http://git.example.com/otomi/values.git',
  syncIntervalMs: 180_000,
  gitTimeoutMs: 60_000,
};

/** A cluster that knows Applications. */
export async function syncCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const cluster = await testCluster(options);
  let isOver = false;
  const ready = ensureApplicationKind({ ...cluster, signal: new AbortController().signal }).finally(
    () => (isOver = true),
  );
  while (!isOver) {
    await cluster.advance(500);
    // The definition is a file, and the disk knows nothing of virtual time.
    await setImmediate();
  }
  await ready;
  await ensureNamespace(cluster, 'argocd');
  return cluster;
}

async function ensureNamespace({ client }: TestCluster, name: string): Promise<void> {
  if (!(await client.get(Namespace, { name }))) await client.create(newObject(Namespace, { metadata: { name } }));
}

/** A cluster on which Applications are synchronized. */
export interface SyncWorld extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly repositories: FakeRepositories;
  readonly running: TestManager;
  readonly rendered: RenderedSources;
  /** An Application, the repository it is about and the namespace it is for, all of one name. */
  app(name: string): Promise<TestApplication>;
  /** Installs Argo CD's controller, which here does nothing, and resolves when ours has stepped aside. Gives what removes it. */
  installArgo(): Promise<() => Promise<void>>;
}

export interface TestApplication {
  readonly name: string;
  readonly url: string;
  /** Replaces all files of the repository; the controller is told. */
  push(files: Files): Promise<string>;
  create(spec?: object, metadata?: object): Promise<void>;
  patch(body: object): Promise<void>;
  get(): Promise<Application | undefined>;
  status(): Promise<ApplicationStatus>;
  /** Waits until the status is what `check` asks for. */
  until(what: string, check: (status: ApplicationStatus) => unknown): Promise<ApplicationStatus>;
  /** Waits until an operation is over, about this commit if one is given. */
  settled(commit?: string): Promise<ApplicationStatus>;
  /** The value in a ConfigMap of the namespace. */
  value(name: string): Promise<string | undefined>;
}

export async function syncWorld(options: TestClusterOptions = {}): Promise<SyncWorld> {
  const cluster = await syncCluster(options);
  const repositories = await fakeRepositories();
  const rendered = new RenderedSources();
  const controller = nativeSyncController({ settings: syncSettings, sources: repositories.store, rendered });
  const running = await cluster.run([controller]);
  return {
    cluster,
    repositories,
    running,
    rendered,
    async app(name) {
      await ensureNamespace(cluster, name);
      return testApplication(cluster, name, repositories, () => controller.refresh());
    },
    async installArgo() {
      const logged = running.logs.length;
      await cluster.client.create(argoController());
      await cluster.eventually('it steps aside', () =>
        running.logs.slice(logged).some(({ message }) => message.includes('Applications are left to it')),
      );
      return async () => void (await cluster.client.delete(StatefulSet, argoKey));
    },
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      await repositories[Symbol.asyncDispose]();
    },
  };
}

function testApplication(
  cluster: TestCluster,
  name: string,
  repositories: FakeRepositories,
  refresh: () => void,
): TestApplication {
  const { client } = cluster;
  const url = repositoryUrl(name);
  const key = { namespace: 'argocd', name };
  const app: TestApplication = {
    name,
    url,
    async push(files) {
      const commit = await repositories.push(url, files);
      refresh();
      return commit;
    },
    create: async (spec = {}, metadata = {}) => void (await client.create(application(name, spec, metadata))),
    patch: async (body) => void (await client.patch(Application, key, { type: 'merge', body: { ...body } })),
    get: async () => await client.get(Application, key),
    status: async () => (await client.get(Application, key))?.status ?? {},
    until: async (what, check) =>
      await cluster.eventually(`${name}: ${what}`, async () => {
        await repositories.idle();
        const status = await app.status();
        return check(status) ? status : undefined;
      }),
    settled: async (commit) =>
      await app.until('a synchronization is over', ({ operationState: state, sync }) => {
        if (state === undefined || state.phase === 'Running') return false;
        return commit === undefined || (sync?.revision === commit && state.syncResult?.revision === commit);
      }),
    async value(configMap) {
      await repositories.idle();
      return (await client.get(ConfigMap, { namespace: name, name: configMap }))?.data?.['value'];
    },
  };
  return app;
}

const argoKey = { namespace: 'argocd', name: argo.controllerName };

function argoController(): StatefulSet {
  const labels = { 'app.kubernetes.io/name': argo.controllerName };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'argocd' }] } };
  return newObject(StatefulSet, {
    metadata: { ...argoKey, labels },
    spec: { serviceName: 'argocd', selector: { matchLabels: labels }, template },
  });
}

export function repositoryUrl(name: string): string {
  return `https://git.example.com/${name}.git`;
}

export function application(name: string, spec: object = {}, metadata: object = {}): Application {
  return newObject(Application, {
    metadata: { namespace: 'argocd', name, ...metadata },
    spec: {
      project: 'default',
      destination: { server: 'https://kubernetes.default.svc', namespace: name },
      source: { repoURL: repositoryUrl(name), path: 'app', targetRevision: 'main' },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
      ...spec,
    },
  });
}

export function configMap(name: string, value: string, annotations: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations }, data: { value } });
}

export function hookJob(metadata: object): string {
  const container = { name: 'main', image: 'busybox' };
  const template = { spec: { restartPolicy: 'Never', containers: [container] } };
  return JSON.stringify({ apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { backoffLimit: 0, template } });
}

/** A Service that never gets well: it waits for an address, and nobody here gives any. */
export function balancer(annotations: Readonly<Record<string, string>>): string {
  const spec = { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { app: 'none' } };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'lb', annotations }, spec });
}
