import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Packed } from '../pack/pack.ts';
import type { PackageManifest } from '../pack/published-manifest.ts';

const repository = join(import.meta.dirname, '..', '..');
/** What has no place in a tarball: tests, fixtures and sources. */
const unwanted = /\.test\.|\.fixture\.|(?:^|\/)(?:test|goldens|node_modules)\/|(?<!\.d)\.ts$|tsconfig/;

/** Files of a project that is yet to be written. */
const template = /^templates\//;

/** What is wrong with a tarball: what it lacks, what it should not have. */
export async function tarballProblems({ name, folder, files }: Packed): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageManifest;
  const needed = ['README.md', 'LICENSE', 'NOTICE', 'package.json'];
  for (const file of [...Object.values(manifest.exports ?? {}), ...Object.values(manifest.bin ?? {})]) {
    needed.push(file.replace('./', ''));
    if (file.endsWith('.js')) needed.push(file.replace('./', '').replace(/\.js$/, '.d.ts'));
  }
  for (const { module } of Object.values(manifest.slipway?.commands ?? {})) needed.push(module.replace('./', ''));
  for (const file of files) if (file.endsWith('.js') && file.startsWith('dist/')) needed.push(`${file}.map`);
  needed.push(...assets(folder, manifest));
  const there = new Set(files);
  return [
    ...needed.filter((file) => !there.has(file)).map((file) => `${name} lacks ${file}`),
    ...files
      .filter((file) => unwanted.test(file) && !template.test(file))
      .map((file) => `${name} should not have ${file}`),
  ];
}

/** The files of the repository that have to travel as they are. */
function assets(folder: string, { files = [] }: PackageManifest): string[] {
  const source = join(repository, 'packages', folder.split('/').at(-1)!);
  const travelling = files.filter((file) => file !== 'dist' && file !== 'NOTICE');
  if (travelling.length === 0) return [];
  return execFileSync('git', ['ls-files', '--', ...travelling], { cwd: source, encoding: 'utf8' })
    .trim()
    .split('\n');
}
