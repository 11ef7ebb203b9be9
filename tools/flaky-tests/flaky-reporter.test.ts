import { execFile } from 'node:child_process';
import { join } from 'node:path';

import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Runs the fixture as the continuous integration would, with the house's own configuration but for the files. */
function run(retry: number, flaky = ''): Promise<{ code: unknown; text: string }> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const config = join(import.meta.dirname, 'fixture', 'vitest.config.ts');
  const argv = [vitest, 'run', '--config', config, '--retry', String(retry)];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      argv,
      { cwd: root, env: { ...process.env, NO_COLOR: '1', SLIPWAY_FLAKY: flaky } },
      (error, stdout, stderr) => {
        resolve({ code: error ? error.code : 0, text: stdout + stderr });
      },
    );
  });
}

test('a test that passes only when tried again is reported as a failure, and lets the run fail when asked', async () => {
  const { code, text } = await run(1, 'fail');
  expect(text).toMatch(/FLAKY .*sometimes\.ts > passes the second time \(passed after 1 more\)/);
  expect(text).not.toMatch(/FLAKY .*passes the first time/);
  expect(text).toMatch(/2 passed/);
  expect(code).toBe(1);
});
