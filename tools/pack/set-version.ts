import { glob, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { isOwn } from './published-manifest.ts';

type Dependencies = Record<string, string>;
interface Manifest {
  name: string;
  version: string;
  dependencies?: Dependencies;
  devDependencies?: Dependencies;
  peerDependencies?: Dependencies;
}

/** A `package.json` in a new version, which asks for the others of the repository in the same. */
export function inVersion(text: string, version: string): string {
  const manifest = JSON.parse(text) as Manifest;
  manifest.version = version;
  for (const asked of [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies]) {
    for (const name of Object.keys(asked ?? {})) if (isOwn(name)) asked![name] = version;
  }
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** A `Chart.yaml` in a new version, of the application in the same. */
export function chartInVersion(text: string, version: string): string {
  return text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`);
}

/** Gives everything in the repository a version, in step. */
async function setVersion(root: string, version: string): Promise<void> {
  const workspaces = ['package.json', '{packages,examples,tools}/*/package.json'];
  for await (const path of glob(workspaces, { cwd: root, exclude: ['**/node_modules/**'] }))
    await rewrite(join(root, path), (text) => inVersion(text, version));
  await rewrite(join(root, 'deploy', 'chart', 'Chart.yaml'), (text) => chartInVersion(text, version));
}

async function rewrite(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, 'utf8')));
  console.log(file);
}

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) {
    console.error('which version? For example: npm run release:version -- 0.2.0');
    process.exit(2);
  }
  await setVersion(resolve(import.meta.dirname, '..', '..'), version);
}
