import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

import { findPackages } from '@slipway/cli';

import { makeBriefPrograms } from '../bundle/brief.ts';
import { build } from './build.ts';
import { importedPackages, undeclared } from './foreign-imports.ts';
import { entryModules, publishedManifest, type PackageManifest, type Release } from './published-manifest.ts';
import { releaseProblems } from './release-problems.ts';
import { publishedMap, publishedTypes } from './take-module.ts';

const root = resolve(import.meta.dirname, '..', '..');

export interface Packed {
  readonly name: string;
  /** What is packed, as a folder: `npm publish` takes it as it is. */
  readonly folder: string;
  readonly tarball: string;
  readonly bytes: number;
  readonly files: readonly string[];
}

interface Source {
  /** From the root of the repository. */
  readonly folder: string;
  readonly manifest: PackageManifest;
}

/**
 * Makes what is published of every package: JavaScript, types and source maps in `dist`, what is read at run time, a
 * `package.json` for users. Folders go to `packages` in the directory, tarballs to `tarballs`.
 */
export async function pack(directory = join(root, 'dist')): Promise<Packed[]> {
  const sources = await findSources();
  const built = join(directory, 'build');
  const staged = join(directory, 'packages');
  const tarballs = join(directory, 'tarballs');
  for (const folder of [built, staged, tarballs]) await rm(folder, { recursive: true, force: true });
  await build({ root, entries: sources.flatMap(entriesOf), modules: modulesOf(sources), outDir: built });
  const release = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Release;
  const folders = await Promise.all(sources.map((source) => stage(source, release, built, staged)));
  const packages = await findPackages(join(root, 'packages'));
  await makeBriefPrograms(packages, release.version, join(staged, 'cli', 'dist'));
  await rm(built, { recursive: true });
  await mkdir(tarballs, { recursive: true });
  return await makeTarballs(folders, tarballs);
}

/** Ends the process when the packages may be tried, and are not to be published yet. */
async function refuseUnready(): Promise<void> {
  const problems = await releaseProblems(root);
  if (problems.length === 0) return;
  console.error(['this is not ready to be published (docs/releasing.md):', ...problems].join('\n  '));
  process.exit(1);
}

async function findSources(): Promise<Source[]> {
  const found: Source[] = [];
  for (const name of (await readdir(join(root, 'packages'))).sort()) {
    const folder = join('packages', name);
    const text = await readFile(join(root, folder, 'package.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) found.push({ folder, manifest: JSON.parse(text) as PackageManifest });
  }
  return found;
}

function entriesOf({ folder, manifest }: Source): string[] {
  return entryModules(manifest).map((module) => join(root, folder, module));
}

function modulesOf(sources: readonly Source[]): Record<string, string> {
  const modules: Record<string, string> = {};
  for (const { folder, manifest } of sources) {
    for (const [path, module] of Object.entries(manifest.exports ?? {}))
      modules[posix.join(manifest.name, path)] = join(root, folder, module);
  }
  return modules;
}

async function stage({ folder, manifest }: Source, release: Release, built: string, staged: string): Promise<string> {
  const source = join(root, folder);
  const target = join(staged, relative('packages', folder));
  await mkdir(target, { recursive: true });
  const assets = await assetsOf(source, manifest);
  for (const asset of assets) await cp(join(source, asset), join(target, asset), { recursive: true });
  const imported = await takeModules(join(built, relative('packages', folder), 'src'), join(target, 'dist'));
  const missing = undeclared(imported, manifest);
  if (missing.length > 0) throw new Error(`${manifest.name} imports ${missing.join(', ')} and does not depend on it`);
  const published = publishedManifest(manifest, release, { folder, assets });
  await writeFile(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  await cp(join(source, 'README.md'), join(target, 'README.md'));
  await cp(join(root, 'LICENSE'), join(target, 'LICENSE'));
  const notice = join(source, 'NOTICE');
  await cp((await exists(notice)) ? notice : join(root, 'NOTICE'), join(target, 'NOTICE'));
  return target;
}

/** What travels as it is: what the package names itself, and the folders its operator reads. */
async function assetsOf(source: string, { files = [], slipway }: PackageManifest): Promise<string[]> {
  const assets = [...files];
  for (const folder of slipway?.folders ?? ['manifests']) {
    if (await exists(join(source, folder))) assets.push(folder);
  }
  return assets;
}

/** Copies built modules, and tells which packages they import. */
async function takeModules(from: string, to: string): Promise<Set<string>> {
  const imported = new Set<string>();
  if (!(await exists(from))) return imported;
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = relative(from, file);
    const text = await readFile(file, 'utf8');
    await mkdir(dirname(join(to, path)), { recursive: true });
    await writeFile(join(to, path), published(text, path));
    if (!path.endsWith('.map')) for (const each of importedPackages(text)) imported.add(each);
  }
  return imported;
}

function published(text: string, path: string): string {
  if (path.endsWith('.d.ts')) return publishedTypes(text);
  return path.endsWith('.map') ? publishedMap(text, path) : text;
}

async function makeTarballs(folders: readonly string[], tarballs: string): Promise<Packed[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--pack-destination', tarballs, ...folders], {
    cwd: tarballs,
    maxBuffer: 1 << 26,
  });
  interface Report {
    readonly name: string;
    readonly filename: string;
    readonly size: number;
    readonly files: readonly { readonly path: string }[];
  }
  return (JSON.parse(stdout) as Report[]).map(({ name, filename, size, files }, at) => ({
    name,
    folder: folders[at]!,
    tarball: join(tarballs, filename),
    bytes: size,
    files: files.map(({ path }) => path),
  }));
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

if (import.meta.main) {
  if (process.argv.includes('--release')) await refuseUnready();
  for (const { name, tarball, bytes, files } of await pack()) {
    const kilobytes = `${(bytes / 1e3).toFixed(0)} kB`;
    console.log(
      `${name.padEnd(24)} ${kilobytes.padStart(8)}  ${String(files.length).padStart(4)} files  ${relative(root, tarball)}`,
    );
  }
}
