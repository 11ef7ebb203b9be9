import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

import { asShipped } from './as-shipped.ts';

/** Runs a program that was split into modules as the bundle is. */
async function runSplit(contents: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'named-imports-'));
  try {
    await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      splitting: true,
      bundle: true,
      platform: 'node',
      format: 'esm',
      plugins: asShipped(),
      logLevel: 'error',
    });
    return (await promisify(execFile)(process.execPath, [join(folder, 'stdin.mjs')])).stdout.trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test.each([
  ['node:fs/promises', "console.log(typeof (await import('node:fs/promises')).writeFile);", 'function'],
  ['yaml', "const { parse } = await import('yaml'); console.log(parse('a: 1').a);", '1'],
  ['js-yaml', "const { load } = await import('js-yaml'); console.log(load('a: 1').a);", '1'],
  [
    '@peculiar/x509',
    "await import('reflect-metadata'); console.log(typeof (await import('@peculiar/x509')).X509CertificateGenerator.create);",
    'function',
  ],
])('the names of %s are there when it is loaded late', async (_package, program, printed) => {
  expect(await runSplit(program)).toBe(printed);
});
