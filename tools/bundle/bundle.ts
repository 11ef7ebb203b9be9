import { cp, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { operatorPackages, type OperatorPackage } from '@slipway/cli';
import { build, type Plugin } from 'esbuild';

import { builtinsOnDemand, narrowUndici } from './quick-start.ts';

const root = resolve(import.meta.dirname, '..', '..');

export interface BundleOptions {
  /** Where the bundle goes. Default `dist` in the repository. */
  readonly directory?: string;
  /** Default: every package that describes an operator, by the rule of `slipway` itself. */
  readonly operators?: readonly OperatorPackage[];
}

export interface Bundle {
  readonly file: string;
  readonly bytes: number;
}

/** Makes `slipway.mjs`: the command, the embedded API server and all operators in one file. What operators read at run time lies beside it, in `operators/<package>/manifests`. */
export async function bundle(options: BundleOptions = {}): Promise<Bundle> {
  const directory = options.directory ?? join(root, 'dist');
  const operators = options.operators ?? (await operatorPackages(join(root, 'packages')));
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const file = join(directory, 'slipway.mjs');
  await mkdir(directory, { recursive: true });
  await build({
    stdin: { contents: entry(operators, version), resolveDir: root, sourcefile: 'slipway.ts', loader: 'ts' },
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Names stay readable in stack traces; white space is what costs.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'external',
    // Some dependencies are CommonJS and ask for built-in modules by `require`.
    banner: {
      js: "#!/usr/bin/env node\nimport{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    plugins: [ownFolders(operators), builtinsOnDemand(), narrowUndici()],
    logLevel: 'error',
  });
  await copyManifests(operators, directory);
  return { file, bytes: (await stat(file)).size };
}

function entry(operators: readonly OperatorPackage[], version: string): string {
  const names = operators.map((_operator, index) => `operator${index}`);
  return [
    "import { inOrder, runProcess } from '@slipway/cli';",
    ...operators.map(
      ({ entry: path, exported }, index) => `import { ${exported} as ${names[index]} } from ${JSON.stringify(path)};`,
    ),
    `await runProcess(inOrder([${names.join(', ')}]), ${JSON.stringify(version)});`,
  ].join('\n');
}

/**
 * In the bundle every module lies in the bundle's folder. Operators find their manifests relative to their sources, so there
 * their `import.meta.dirname` is where the source would be in a copy of the package under `operators/`.
 */
function ownFolders(operators: readonly OperatorPackage[]): Plugin {
  return {
    name: 'own-folders',
    setup(builder) {
      for (const { folder } of operators) {
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

async function copyManifests(operators: readonly OperatorPackage[], directory: string): Promise<void> {
  const target = join(directory, 'operators');
  await rm(target, { recursive: true, force: true });
  for (const { folder } of operators) {
    const source = join(folder, 'manifests');
    const present = await stat(source).catch(() => undefined);
    if (present?.isDirectory()) await cp(source, join(target, basename(folder), 'manifests'), { recursive: true });
  }
}

if (import.meta.main) {
  const { file, bytes } = await bundle();
  console.log(`${file} ${(bytes / 1024 / 1024).toFixed(1)} MiB`);
}
