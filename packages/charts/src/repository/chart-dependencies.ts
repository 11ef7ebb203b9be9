import { lstat, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '@slipway/kube';

import type { Chart, ChartDependency } from '../chart/chart.ts';
import { loadChart } from '../chart/load.ts';
import { isCompatible } from '../values/dependencies.ts';
import { lockDigest, lockOf, lockText, oldLockDigest, type LockedDependency } from './chart-lock.ts';
import type { ChartRepositories } from './chart-repositories.ts';
import { packageChart } from './package-chart.ts';
import { isWithin, pathName } from './path-name.ts';
import { replaceFile } from './replace-file.ts';
import { RepositoryError } from './repository-error.ts';
import { shownAddress } from './shown-address.ts';
import { wantedRange } from './version-choice.ts';

/** What dependencies are fetched with. */
export interface DependencyContext {
  readonly repositories: ChartRepositories;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Told what happens, line by line. Default: nobody. */
  readonly progress?: (text: string) => void;
}

/**
 * Finds the newest version of each dependency that Chart.yaml allows, puts them into `charts/` and writes Chart.lock. Everything
 * is fetched and looked at before anything is written.
 */
export async function updateDependencies(path: string, context: DependencyContext): Promise<void> {
  const chart = await loadFolder(path);
  const asked = withAddresses(chart.metadata.dependencies, context);
  for (const { name } of asked) pathName(name);
  if (asked.length === 0) return;
  const locked: LockedDependency[] = [];
  for (const dependency of asked) locked.push(await lockOne(path, dependency, context));
  await saveAll(path, locked, context);
  const digest = lockDigest(asked, locked);
  // A lock that says the same keeps its date.
  if (lockOf(chart)?.digest === digest) return;
  await writeLock(path, chart, lockText({ dependencies: locked, digest }, new Date(context.clock.now()).toISOString()));
}

/** Puts into `charts/` what Chart.lock names. Without a lock it is an update. */
export async function buildDependencies(path: string, context: DependencyContext): Promise<void> {
  const chart = await loadFolder(path);
  const lock = lockOf(chart);
  if (!lock) return await updateDependencies(path, context);
  const { dependencies, apiVersion } = chart.metadata;
  const asked = withAddresses(dependencies, context);
  const fits =
    lockDigest(asked, lock.dependencies) === lock.digest ||
    (apiVersion === 'v1' && oldLockDigest(dependencies) === lock.digest);
  if (!fits)
    throw new RepositoryError(
      'OutOfSync',
      'the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml)',
    );
  await saveAll(path, lock.dependencies, context);
}

async function loadFolder(path: string): Promise<Chart> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile())
    throw new RepositoryError('Refused', 'only unpacked charts can be updated', { hint: 'unpack the chart' });
  return await loadChart(path);
}

/** `@name` stands for the address of a configured repository, in the lock too. */
function withAddresses(
  dependencies: readonly ChartDependency[],
  { repositories }: DependencyContext,
): ChartDependency[] {
  return dependencies.map((dependency) => {
    const { repository } = dependency;
    if (!/^(?:@|alias:)/.test(repository)) return dependency;
    const found = repositories.repository(repository);
    if (!found)
      throw new RepositoryError(
        'UnknownRepository',
        `dependency ${dependency.name}: no repository "${shownAddress(repository)}" is configured`,
      );
    return { ...dependency, repository: found.url };
  });
}

async function lockOne(
  path: string,
  { name, version, repository }: ChartDependency,
  { repositories, signal }: DependencyContext,
): Promise<LockedDependency> {
  wantedRange(version);
  if (repository === '') {
    await localChart(path, name);
    return { name, version, repository };
  }
  if (isFile(repository)) {
    const { metadata } = await loadChart(localPath(path, repository));
    if (!isCompatible(version, metadata.version)) throw noVersion(name, repository, version);
    return { name, version: metadata.version, repository };
  }
  return { name, version: await repositories.resolve({ chart: name, version, repository }, signal), repository };
}

/** Fetches every archive, then replaces what lies in `charts/`. */
async function saveAll(path: string, locked: readonly LockedDependency[], context: DependencyContext): Promise<void> {
  const say = context.progress ?? (() => undefined);
  const folder = join(path, 'charts');
  await ownFolder(folder);
  // The lock is a file like any other: its names need not be those of Chart.yaml.
  for (const { name } of locked) pathName(name);
  say(`Saving ${locked.length} charts`);
  const archives = new Map<string, Uint8Array>();
  const fetched = new Set<string>();
  for (const dependency of locked) {
    const { name, version, repository } = dependency;
    if (repository === '') {
      say(`Dependency ${name} did not declare a repository. Assuming it exists in the charts directory`);
      const { metadata } = await loadChart(await localChart(path, name));
      if (!isCompatible(version, metadata.version)) throw noVersion(name, 'charts/', version);
      continue;
    }
    const key = JSON.stringify([name, version, repository]);
    if (fetched.has(key)) {
      say(`Already downloaded ${name} from repo ${shownAddress(repository)}`);
      continue;
    }
    fetched.add(key);
    const [file, data] = await fetchOne(path, dependency, context);
    archives.set(file, data);
  }
  await mkdir(folder, { recursive: true });
  // Fetching takes time, in which a folder may become something else.
  await ownFolder(folder);
  for (const [file, data] of archives) await write(join(folder, file), data);
  say('Deleting outdated charts');
  const local = new Set(locked.filter(({ repository }) => repository === '').map(({ name }) => name));
  await removeOutdated(folder, archives, local, say);
}

/** What is written and deleted in `charts/` is the chart's own; elsewhere it may be anybody's. */
async function ownFolder(folder: string): Promise<void> {
  const info = await lstat(folder).catch(() => undefined);
  if (!info || info.isDirectory()) return;
  throw new RepositoryError('Refused', `${folder} is ${info.isSymbolicLink() ? 'a link' : 'no folder'}`, {
    hint: 'remove it; the folder is made again',
  });
}

/** Where the chart lies that a dependency without a repository means. */
async function localChart(path: string, name: string): Promise<string> {
  const place = join(path, 'charts', pathName(name));
  if (!(await stat(place).catch(() => undefined)))
    throw new RepositoryError('NotFound', `dependency ${name} names no repository, and charts/${name} is not there`);
  if (!(await isWithin(path, place)))
    throw new RepositoryError('Refused', `charts/${name} is a link that leads outside the chart`, {
      hint: `put the chart there, or name its place with repository: file://`,
    });
  return place;
}

async function fetchOne(
  path: string,
  { name, version, repository }: LockedDependency,
  { repositories, progress, signal }: DependencyContext,
): Promise<[file: string, archive: Uint8Array]> {
  if (isFile(repository)) {
    const chart = await loadChart(localPath(path, repository));
    if (!isCompatible(version, chart.metadata.version)) throw noVersion(name, repository, version);
    return [`${pathName(chart.metadata.name)}-${chart.metadata.version}.tgz`, await packageChart(chart)];
  }
  progress?.(`Downloading ${name} from repo ${shownAddress(repository)}`);
  const { archive, fileName } = await repositories.pull({ chart: name, version, repository }, signal);
  const { metadata } = await loadChart(archive);
  if (metadata.name !== name)
    throw new RepositoryError(
      'BadAnswer',
      `${shownAddress(repository)} sent chart ${metadata.name} instead of ${name}`,
    );
  return [fileName, archive];
}

/** Archives nobody asked for any more. Folders stay, and so does what is no chart. */
async function removeOutdated(
  folder: string,
  wanted: ReadonlyMap<string, unknown>,
  local: ReadonlySet<string>,
  say: (text: string) => void,
): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory() || wanted.has(entry.name)) continue;
    const file = join(folder, entry.name);
    try {
      if (!entry.isFile()) throw new RepositoryError('Refused', 'it is no regular file');
      const { metadata } = await loadChart(file);
      if (!local.has(metadata.name)) await rm(file);
    } catch (error) {
      say(`Could not verify ${file} for deletion: ${(error as Error).message} (Skipping)`);
    }
  }
}

async function writeLock(path: string, { metadata }: Chart, text: string): Promise<void> {
  const file = join(path, metadata.apiVersion === 'v1' ? 'requirements.lock' : 'Chart.lock');
  const info = await lstat(file).catch(() => undefined);
  if (info?.isSymbolicLink())
    throw new RepositoryError('Refused', `${file} is a link`, { hint: 'remove the link; the lock is written again' });
  await write(file, Buffer.from(text));
}

async function write(file: string, data: Uint8Array): Promise<void> {
  try {
    await replaceFile(file, data);
  } catch (cause) {
    throw new RepositoryError('Refused', `cannot write ${file}: ${(cause as NodeJS.ErrnoException).code}`, {
      cause,
      hint: 'look at what is there, and at who may write',
    });
  }
}

function isFile(repository: string): boolean {
  return repository.startsWith('file://');
}

function localPath(chart: string, repository: string): string {
  return resolve(chart, repository.slice('file://'.length));
}

function noVersion(name: string, repository: string, version: string): RepositoryError {
  return new RepositoryError(
    'NotFound',
    `dependency ${name} in ${shownAddress(repository)} has no version that satisfies "${version}"`,
  );
}
