import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-brief-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const module = join(import.meta.dirname, 'brief-program.ts');

/** Runs a brief program that answers this, and says what came of it and which bytecode is kept. */
async function run(answer: string): Promise<{ readonly done: string; readonly kept: number }> {
  await writeFile(join(folder, 'brief-chart-template.cjs'), `// digest-1\n(()=>async()=>{${answer}})()`);
  const script = `const { runBriefly } = await import(${JSON.stringify(module)});
    process.stdout.write(String(await runBriefly(${JSON.stringify(folder)}, ['chart', 'template'])));`;
  const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...env } = process.env;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { ...env, XDG_CACHE_HOME: folder },
  });
  return { done: stdout, kept: (await readdir(join(folder, 'slipway', 'compiled'))).length };
}

test('what a brief program ran is kept for the next time', async () => {
  expect(await run('return true')).toEqual({ done: 'true', kept: 1 });
});

test('a brief program that ends the process keeps what it ran', async () => {
  expect(await run('process.exit()')).toEqual({ done: '', kept: 1 });
});

test('nothing is kept of a run that was left to the whole program: no later one would take as long', async () => {
  expect(await run('return false')).toEqual({ done: 'false', kept: 0 });
});

test('nothing is kept of a run that failed', async () => {
  expect(await run('process.exit(1)')).toEqual({ done: '', kept: 0 });
});
