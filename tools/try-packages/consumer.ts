import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

import type { Packed } from '../pack/pack.ts';
import type { PackageManifest } from '../pack/published-manifest.ts';
import { must, type Place } from './programs.ts';

/** What a project of our users brings itself. */
export interface Tools {
  readonly typescript: string;
  readonly nodeTypes: string;
  readonly vitest: string;
}

const compilerOptions = {
  module: 'nodenext',
  target: 'es2024',
  strict: true,
  types: ['node'],
  rewriteRelativeImportExtensions: true,
  outDir: 'built',
};

/** The usual settings of a strict project, and the same with the types of all libraries looked at; vitest's are its own matter. */
const projects = {
  'tsconfig.json': { compilerOptions: { ...compilerOptions, skipLibCheck: true }, include: ['*.ts'] },
  'tsconfig.libraries.json': {
    compilerOptions: { ...compilerOptions, noEmit: true },
    files: ['website.ts', 'everything.ts'],
  },
};

/** An empty project with the packages in it. Their own dependencies come from the registry, as a user's do. */
export async function makeConsumer(place: Place, packed: readonly Packed[], tools: Tools): Promise<void> {
  await writeFile(join(place.cwd, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  for (const [file, project] of Object.entries(projects))
    await writeFile(join(place.cwd, file), JSON.stringify(project));
  const wanted = [
    ...packed.map(({ tarball }) => tarball),
    `typescript@${tools.typescript}`,
    `@types/node@${tools.nodeTypes}`,
    `vitest@${tools.vitest}`,
  ];
  await must(place, 'npm', 'install', '--engine-strict', '--loglevel=error', ...wanted);
}

/** The ordinary strict compiler accepts every entry of every package and an operator written with them, types of types included. */
export async function checkTypes(place: Place, packed: readonly Packed[], example: string): Promise<void> {
  for (const file of ['website.ts', 'website.test.ts']) await cp(join(example, file), join(place.cwd, file));
  const modules = await publishedModules(packed);
  const lines = modules.map((name, at) => `import * as m${at} from '${name}';`);
  lines.push(`console.log([${modules.map((_, at) => `Object.keys(m${at}).length > 0`).join(', ')}].join(' '));`);
  await writeFile(join(place.cwd, 'everything.ts'), lines.join('\n'));
  for (const project of Object.keys(projects)) await must(place, 'npx', 'tsc', '-p', project);
}

/** Every entry loads and exports something. */
export async function loadEverything(place: Place): Promise<void> {
  const { out } = await must(place, 'node', 'built/everything.js');
  if (/false/.test(out)) throw new Error(`an entry exports nothing: ${out}`);
}

/** What others can import, e.g. `@slipway/testing/virtual-clock`. The command is no library: importing it runs it. */
async function publishedModules(packed: readonly Packed[]): Promise<string[]> {
  const modules: string[] = [];
  for (const { name, folder } of packed) {
    const { exports = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageManifest;
    for (const [path, file] of Object.entries(exports)) {
      if (file.endsWith('.js') && path !== './main') modules.push(posix.join(name, path));
    }
  }
  return modules;
}
