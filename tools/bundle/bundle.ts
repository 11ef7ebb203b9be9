import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { findPackages, type SlipwayPackage } from '@slipway/cli';
import { build, type BuildOptions, type Plugin } from 'esbuild';

import { nodeProblem } from '../../packages/kube/node-problem.cjs';
import { publishedEngines } from '../pack/published-manifest.ts';
import { asShipped } from './as-shipped.ts';
import { makeBriefPrograms } from './brief.ts';

const root = resolve(import.meta.dirname, '..', '..');

export interface BundleOptions {
  /** Where the bundle goes. Default `dist` in the repository. */
  readonly directory?: string;
  /** Default: every package that brings an operator or commands, by the rule of `slipway` itself. */
  readonly packages?: readonly SlipwayPackage[];
}

export interface Bundle {
  readonly file: string;
  readonly bytes: number;
}

/**
 * Makes `slipway.mjs`, and beside it the modules it loads when they are needed: the command, the embedded API server, all
 * operators. What operators read at run time lies there too, in `operators/<package>`.
 */
export async function bundle(options: BundleOptions = {}): Promise<Bundle> {
  const directory = options.directory ?? join(root, 'dist');
  const packages = options.packages ?? (await findPackages(join(root, 'packages')));
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const file = join(directory, 'slipway.mjs');
  await mkdir(directory, { recursive: true });
  for (const old of await outputsIn(directory)) await rm(join(directory, old));
  const settings: BuildOptions = {
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Far older than what it runs on: an old Node has to be able to read the file, or it could not say that it is too old.
    target: 'node16.20',
    // Names stay readable in stack traces; white space is what costs.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'external',
    logLevel: 'error',
  };
  await build({
    ...settings,
    entryPoints: { 'slipway-program': programName },
    // A command loads what it needs, not what the others need. In one folder, where operators look for theirs.
    splitting: true,
    chunkNames: 'slipway-[hash]',
    plugins: [ownModules(packages, version), ownFolders(packages), ...asShipped()],
  });
  await build({
    ...settings,
    entryPoints: { slipway: entryName },
    // One file, which shares nothing: it is all that is loaded for a command that has a brief program.
    external: [`./${programFile}`],
    plugins: [ownModules(packages, version), ...asShipped()],
  });
  await makeBriefPrograms(packages, version, directory);
  await joinLegalTexts(directory);
  await copyFolders(packages, directory);
  const modules = await outputsIn(directory);
  const sizes = await Promise.all(modules.map(async (name) => (await stat(join(directory, name))).size));
  return { file, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** What an earlier build has left: the names of modules change with what is in them. */
async function outputsIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) =>
    /^(slipway(-[A-Z0-9]+|-program)?\.mjs|brief-[a-z-]+\.cjs)/.test(name),
  );
}

/** One text with the licences of all modules. */
async function joinLegalTexts(directory: string): Promise<void> {
  const texts = new Set<string>();
  for (const name of (await outputsIn(directory)).filter((each) => each.endsWith('.LEGAL.txt'))) {
    texts.add(await readFile(join(directory, name), 'utf8'));
    await rm(join(directory, name));
  }
  await writeFile(join(directory, 'slipway.mjs.LEGAL.txt'), [...texts].join('\n'));
}

/** Which Node this is. The first module of all: the next ones ask Node for what an old one does not have. */
const nodeCheck = [
  `const problem=(${nodeProblem.toString()})(process.versions.node,${JSON.stringify(publishedEngines)});`,
  "if(problem){process.stderr.write(problem+'\\n');process.exit(1)}",
].join('\n');

const entryName = 'slipway:start';
const checkName = 'slipway:check';
const programName = 'slipway:program';
const programFile = 'slipway-program.mjs';

/** Not by the main module of the package, through which all of it would be loaded. */
const cli = './packages/cli/src';

/** The modules that only the bundle has. */
function ownModules(packages: readonly SlipwayPackage[], version: string): Plugin {
  const contents = new Map([
    [checkName, nodeCheck],
    // Before anything large is loaded.
    [
      entryName,
      `#!/usr/bin/env node
import '${checkName}';
import { keepCompiledCode } from '${cli}/compiled-code.ts';
import { runBriefly } from '${cli}/brief-program.ts';
if (!(await runBriefly(import.meta.dirname, process.argv.slice(2)))) {
  keepCompiledCode();
  await import('./${programFile}');
}`,
    ],
    [programName, program(packages, version)],
  ]);
  return {
    name: 'own-modules',
    setup(builder) {
      builder.onResolve({ filter: /^slipway:/ }, ({ path }) => ({ path, namespace: 'own' }));
      builder.onLoad({ filter: /.*/, namespace: 'own' }, ({ path }) => ({
        contents: contents.get(path)!,
        resolveDir: root,
        loader: 'ts',
      }));
    },
  };
}

/** Each command and the operators are loaded when they are first asked for. */
function program(packages: readonly SlipwayPackage[], version: string): string {
  const load = (module: string, exported: string) => `(await import(${JSON.stringify(module)})).${exported}`;
  const commands = packages.flatMap((each) => each.commands);
  const operators = packages.flatMap((each) => each.operator ?? []);
  return [
    `import { inOrder } from '${cli}/packages.ts';`,
    `import { runProcess } from '${cli}/run-process.ts';`,
    'const commands = [',
    ...commands.map(
      ({ name, summary, module }) =>
        `  { name: ${JSON.stringify(name)}, summary: ${JSON.stringify(summary)}, load: async () => ${load(module, 'command')} },`,
    ),
    '];',
    'const operators = async () => inOrder([',
    ...operators.map(({ module, exported }) => `  ${load(module, exported)},`),
    ']);',
    `await runProcess({ version: ${JSON.stringify(version)}, commands, operators });`,
  ].join('\n');
}

/**
 * In the bundle every module lies in the bundle's folder. Operators find their manifests relative to their sources, so there
 * their `import.meta.dirname` is where the source would be in a copy of the package under `operators/`.
 */
function ownFolders(packages: readonly SlipwayPackage[]): Plugin {
  return {
    name: 'own-folders',
    setup(builder) {
      for (const { folder } of packages) {
        const sources = new RegExp(`^${RegExp.escape(join(folder, 'src'))}.*\\.ts$`);
        builder.onLoad({ filter: sources }, async ({ path }) => {
          const text = await readFile(path, 'utf8');
          if (!text.includes('import.meta.dirname')) return undefined;
          const place = `/operators/${basename(folder)}/${relative(folder, dirname(path)).replaceAll('\\', '/')}`;
          return {
            contents: text.replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(place)})`),
            loader: 'ts',
          };
        });
      }
    },
  };
}

async function copyFolders(packages: readonly SlipwayPackage[], directory: string): Promise<void> {
  const target = join(directory, 'operators');
  await rm(target, { recursive: true, force: true });
  for (const { folder, folders } of packages) {
    for (const name of folders) {
      const present = await stat(join(folder, name)).catch(() => undefined);
      if (present?.isDirectory())
        await cp(join(folder, name), join(target, basename(folder), name), { recursive: true });
    }
  }
}

if (import.meta.main) {
  const { file, bytes } = await bundle();
  console.log(`${file} ${(bytes / 1024 / 1024).toFixed(1)} MiB`);
}
