import { join } from 'node:path';

import { build, type Plugin } from 'esbuild';

import { asShipped } from '../../tools/bundle/as-shipped.ts';

/** A program and all it imports in one file (and one for each dynamic import): as an image ships it. Without this, Node's memory would hold the compiler of TypeScript too. */
export async function bundleInto(
  folder: string,
  source: string,
  name: string,
  plugins: Plugin[] = asShipped(),
): Promise<string> {
  await build({
    entryPoints: { [name]: source },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    // What a program imports after `enableCompileCache()` lies in a file of its own, which the cache can keep compiled.
    splitting: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minifyWhitespace: true,
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
    plugins,
    logLevel: 'error',
  });
  return join(folder, `${name}.mjs`);
}
