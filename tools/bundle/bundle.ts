import { cp, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { findPackages, type SlipwayPackage } from '@slipway/cli';
import { build, type Plugin } from 'esbuild';

import { nodeProblem } from '../../packages/kube/node-problem.cjs';
import { publishedEngines } from '../pack/published-manifest.ts';
import { builtinsOnDemand, narrowUndici } from './quick-start.ts';

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

/** Makes `slipway.mjs`: the command, the embedded API server and all operators in one file. What operators read at run time lies beside it, in `operators/<package>`. */
export async function bundle(options: BundleOptions = {}): Promise<Bundle> {
  const directory = options.directory ?? join(root, 'dist');
  const packages = options.packages ?? (await findPackages(join(root, 'packages')));
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const file = join(directory, 'slipway.mjs');
  await mkdir(directory, { recursive: true });
  await build({
    stdin: { contents: entry(packages, version), resolveDir: root, sourcefile: 'slipway.ts', loader: 'ts' },
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Far older than what it runs on: an old Node has to be able to read the file, or it could not say that it is too old.
    target: 'node16.20',
    // Names stay readable in stack traces; white space is what costs.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'external',
    banner: { js: banner },
    plugins: [ownFolders(packages), builtinsOnDemand(), narrowUndici()],
    logLevel: 'error',
  });
  await copyFolders(packages, directory);
  return { file, bytes: (await stat(file)).size };
}

/** Before everything else: which Node this is. Then a `require`, by which dependencies that are CommonJS ask for built-in modules. */
const banner = [
  '#!/usr/bin/env node',
  "import{createRequire as __createRequire}from'node:module';",
  `const __problem=(${nodeProblem.toString()})(process.versions.node,${JSON.stringify(publishedEngines)});`,
  "if(__problem){process.stderr.write(__problem+'\\n');process.exit(1)}",
  'const require=__createRequire(import.meta.url);',
].join('\n');

/** Everything is in the file; each command and the operators are evaluated when they are first asked for. */
function entry(packages: readonly SlipwayPackage[], version: string): string {
  const load = (module: string, exported: string) => `(await import(${JSON.stringify(module)})).${exported}`;
  const commands = packages.flatMap((each) => each.commands);
  const operators = packages.flatMap((each) => each.operator ?? []);
  return [
    "import { inOrder, runProcess } from '@slipway/cli';",
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
