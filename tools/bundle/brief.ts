import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import type { CommandModule, SlipwayPackage } from '@slipway/cli';
import { build, type Plugin } from 'esbuild';

import { asShipped } from './as-shipped.ts';

const root = resolve(import.meta.dirname, '..', '..');
const cli = './packages/cli/src';

/**
 * Makes the brief programs in a folder: `brief-chart-template.cjs` for `slipway chart template`, as the package of the command names it.
 * What its command line imports late is left out, but for the subcommand itself: other commands, clusters, servers with charts. The whole
 * program does the command then (packages/cli/src/brief-program.ts). The licences of what is in it lie beside it.
 */
export async function makeBriefPrograms(
  packages: readonly SlipwayPackage[],
  version: string,
  directory: string,
): Promise<void> {
  for (const command of packages.flatMap((each) => each.commands)) {
    for (const subcommand of command.brief) {
      const file = join(directory, `brief-${command.name}-${subcommand}.cjs`);
      const { program, licences } = await briefProgram(command, subcommand, version);
      await writeFile(file, program);
      await writeFile(`${file}.LEGAL.txt`, licences);
    }
  }
}

interface BriefProgram {
  readonly program: string;
  readonly licences: string;
}

async function briefProgram(command: CommandModule, subcommand: string, version: string): Promise<BriefProgram> {
  const { outputFiles } = await build({
    stdin: { contents: source(command, version), resolveDir: root, loader: 'ts' },
    write: false,
    outfile: 'brief.cjs',
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'external',
    banner: { js: '(()=>{const module={exports:{}};' },
    footer: { js: 'return module.exports.run})()' },
    // It is one file, wherever it lies: what looks for files beside itself has to be left out.
    logOverride: { 'empty-import-meta': 'error' },
    plugins: [leftOut(subcommand), ...asShipped()],
    logLevel: 'error',
  });
  const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))!.text;
  const text = textOf('.cjs');
  // It is read without decoding.
  if (/[^\0-\x7f]/.test(text)) throw new Error(`the program of ${command.name} ${subcommand} is not all ASCII`);
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 20);
  return { program: `// ${digest}\n${text}`, licences: textOf('.LEGAL.txt') };
}

function source({ name, summary, module }: CommandModule, version: string): string {
  return `import { LeftOut } from '${cli}/left-out.ts';
import { runProcess } from '${cli}/run-process.ts';
import { command } from ${JSON.stringify(module)};
const commands = [{ name: ${JSON.stringify(name)}, summary: ${JSON.stringify(summary)}, load: async () => command }];
export async function run() {
  try {
    await runProcess({ version: ${JSON.stringify(version)}, commands, operators: async () => { throw new LeftOut('operators'); } });
    return true;
  } catch (error) {
    if (error instanceof LeftOut) return false;
    throw error;
  }
}`;
}

/**
 * What the command line imports late ends the program: nothing has been read or written by then. Deeper in, where the command is at work,
 * everything is there.
 */
function leftOut(subcommand: string): Plugin {
  return {
    name: 'left-out',
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
        const isLate = kind === 'dynamic-import' && /\/packages\/(?:cli\/src|[^/]+\/src\/command)\//.test(importer);
        const stays = !isLate || isBuiltin(path) || path === `./${subcommand}.ts`;
        return stays ? undefined : { path, namespace: 'left-out' };
      });
      builder.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
        contents: `import { LeftOut } from '${cli}/left-out.ts';\nthrow new LeftOut(${JSON.stringify(path)});`,
        resolveDir: root,
      }));
    },
  };
}
