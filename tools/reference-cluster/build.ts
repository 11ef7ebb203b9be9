import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireBuildLock } from './build-lock.ts';
import { cacheDirectory } from './cache-directory.ts';
import {
  type Component,
  type ComponentName,
  cacheKey,
  components,
  goBuildArguments,
  goDirectory,
  pinnedVersion,
} from './components.ts';
import { buildGoProgram, goProblem, isExecutable } from './go-program.ts';

export interface EnsureReferenceBinariesOptions {
  /** Receives one line of progress at a time. Default: nowhere. */
  log?: (line: string) => void;
  /** What the caller needs. Default: everything. What starts a cluster (etcd, kube-apiserver, kubectl) is always included. */
  tools?: readonly ComponentName[];
  /** Environment to take KUBEBUILDER_ASSETS, SLIPWAY_CACHE_DIR, PATH and Go's settings from. Default `process.env`. */
  env?: NodeJS.ProcessEnv;
  /** Build what is missing when Go is there. Default true. */
  build?: boolean;
  signal?: AbortSignal;
}

export interface ReferenceBinaries {
  available: true;
  /** Where the API server comes from. */
  source: 'assets' | 'cache' | 'built';
  /** Folder of etcd, kube-apiserver and kubectl. */
  dir: string;
  etcd: string;
  kubeApiserver: string;
  kubectl: string;
  /** Absent when it was not asked for, or when KUBEBUILDER_ASSETS does not hold it. */
  kubeControllerManager?: string;
  /** Absent when it was not asked for. */
  helm?: string;
  /** What somebody who reads the output should know, e.g. that there is no kube-controller-manager. */
  notes: string[];
}

export interface NoReferenceBinaries {
  available: false;
  /** A sentence for people. */
  reason: string;
}

const neededToStart: readonly ComponentName[] = ['etcd', 'kube-apiserver', 'kubectl'];

/** Finds the binaries of the reference cluster: in KUBEBUILDER_ASSETS, else in the cache, else by building them with Go. */
export async function ensureReferenceBinaries(
  options: EnsureReferenceBinariesOptions = {},
): Promise<ReferenceBinaries | NoReferenceBinaries> {
  const env = options.env ?? process.env;
  const requested = options.tools ?? components.map((component) => component.name);
  const wanted = components.filter(({ name }) => neededToStart.includes(name) || requested.includes(name));
  const assets = env['KUBEBUILDER_ASSETS'];
  const notes: string[] = [];
  const found = new Map<ComponentName, string>();
  let fromCache = wanted;

  if (assets) {
    for (const { name } of wanted) {
      if (await isExecutable(join(assets, name))) found.set(name, join(assets, name));
    }
    const missing = neededToStart.filter((name) => !found.has(name));
    if (missing.length > 0) {
      return {
        available: false,
        reason: `KUBEBUILDER_ASSETS is set to ${assets}, which has no executable ${missing.join(', ')}`,
      };
    }
    if (requested.includes('kube-controller-manager') && !found.has('kube-controller-manager')) {
      notes.push('KUBEBUILDER_ASSETS has no kube-controller-manager: controllers cannot be started');
    }
    // Helm has a version of its own; a controller manager must be of the same release as its API server.
    fromCache = wanted.filter(({ name }) => name === 'helm' && !found.has(name));
  }

  const dir = binaryDirectory(env);
  const absent = await missingFrom(dir, fromCache);
  let built = false;
  if (absent.length > 0) {
    const outcome = await buildUnlessImpossible(absent, dir, { ...options, env });
    if (outcome !== undefined && !assets) return { available: false, reason: outcome };
    if (outcome !== undefined) notes.push(`no helm: ${outcome}`);
    else built = true;
  }
  for (const { name } of fromCache) {
    if (await isExecutable(join(dir, name))) found.set(name, join(dir, name));
  }
  return {
    available: true,
    source: assets ? 'assets' : built ? 'built' : 'cache',
    dir: assets ?? dir,
    etcd: found.get('etcd')!,
    kubeApiserver: found.get('kube-apiserver')!,
    kubectl: found.get('kubectl')!,
    kubeControllerManager: found.get('kube-controller-manager'),
    helm: found.get('helm'),
    notes,
  };
}

/** Folder in the cache for the binaries of the present pins. */
export function binaryDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return join(cacheDirectory(env), 'reference', cacheKey(), 'bin');
}

type BuildOptions = EnsureReferenceBinariesOptions & { env: NodeJS.ProcessEnv };

/** Builds what is absent; answers why it could not be tried, or throws when a build was tried and failed. */
async function buildUnlessImpossible(
  absent: readonly Component[],
  dir: string,
  options: BuildOptions,
): Promise<string | undefined> {
  const names = absent.map(({ name }) => name).join(', ');
  if (options.build === false) return `${names} not built yet (npm run reference:build)`;
  const problem = await goProblem(join(goDirectory, absent[0]!.module), options.env);
  if (problem) {
    return `${names} not in the cache, KUBEBUILDER_ASSETS is not set, and ${problem}`;
  }
  const log = options.log ?? (() => {});
  await mkdir(dir, { recursive: true });
  for (const component of absent) {
    // Locked one by one: who needs only the first components does not wait for a build of the others.
    using _lock = await acquireBuildLock(join(dir, '..', 'build.lock'), {
      onWait: () => log(`waiting for another build to finish before ${component.name}`),
      signal: options.signal,
    });
    if (await isExecutable(join(dir, component.name))) continue;
    await buildGoProgram(
      {
        name: component.name,
        version: pinnedVersion(component),
        directory: join(goDirectory, component.module),
        arguments: (output) => goBuildArguments(component, output),
      },
      dir,
      { ...options, log },
    );
  }
  return undefined;
}

async function missingFrom(dir: string, wanted: readonly Component[]): Promise<Component[]> {
  const present = await Promise.all(wanted.map(({ name }) => isExecutable(join(dir, name))));
  return wanted.filter((_, index) => !present[index]);
}

async function main(args: readonly string[]): Promise<void> {
  const known = new Set<string>(components.map(({ name }) => name));
  const unknown = args.filter((arg) => arg !== '--check' && !known.has(arg));
  if (unknown.length > 0) {
    throw new Error(`unknown argument ${unknown.join(' ')}; usage: build.ts [--check] [${[...known].join('|')}]...`);
  }
  const check = args.includes('--check');
  const tools = args.filter((arg): arg is ComponentName => known.has(arg));
  // Go goes on compiling when only its parent is told to end.
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const binaries = await ensureReferenceBinaries({
    signal: interrupted.signal,
    log: (line) => console.log(line),
    tools: tools.length > 0 ? tools : undefined,
    build: !check,
  });
  if (!binaries.available) {
    console.log(`reference binaries are not available: ${binaries.reason}`);
    process.exitCode = 1;
    return;
  }
  for (const note of binaries.notes) console.log(`note: ${note}`);
  console.log(`reference binaries (${binaries.source}): ${binaries.dir}`);
}

if (import.meta.main) await main(process.argv.slice(2));
