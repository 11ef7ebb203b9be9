import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const module = join(import.meta.dirname, 'brief-process.ts');

/** What V8 says about a function that is called often enough for every compiler there is. */
function compilersOf(before: string): string {
  const hot =
    'function mix(n) { let sum = 0; for (let i = 0; i < 100; i += 1) sum = (sum + i * n) % 1021; return sum; }';
  const loop = `${hot} for (let n = 0; n < 50_000; n += 1) mix(n);`;
  const script = `const { keepProcessBrief } = await import(${JSON.stringify(module)}); ${before}; ${loop}`;
  // Each compiler is waited for: however busy the machine, the function meets all of them.
  const waiting = ['--no-concurrent-recompilation', '--no-concurrent-osr'];
  const args = [...waiting, '--trace-opt', '--input-type=module', '--eval', script];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(status).toBe(0);
  return stdout;
}

test('a process that ends soon does without TurboFan', () => {
  expect(compilersOf('')).toContain('TURBOFAN');
  const compilers = compilersOf('keepProcessBrief()');
  expect(compilers).toContain('MAGLEV');
  expect(compilers).not.toContain('TURBOFAN');
});
