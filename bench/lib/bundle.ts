import { join } from 'node:path';

import { build } from 'esbuild';

/** One file of a program and all it imports: as an image ships it. Without this, Node's memory would hold the compiler of TypeScript too. */
export async function bundleInto(folder: string, source: string, name: string): Promise<string> {
  const file = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minifyWhitespace: true,
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
    logLevel: 'error',
  });
  return file;
}
