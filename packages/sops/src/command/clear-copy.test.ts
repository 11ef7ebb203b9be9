import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';

import { withClearCopy } from './clear-copy.ts';

test('a clear copy is for its owner alone, and gone when the work ends or fails', async () => {
  let seen = '';
  const work = withClearCopy('a.yaml', Buffer.from('a: 1\n'), async (path) => {
    seen = path;
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    // What an editor leaves beside it goes, too.
    await writeFile(`${path}~`, 'a: 0\n');
    throw new Error('failed');
  });
  await expect(work).rejects.toThrow('failed');
  expect(existsSync(dirname(seen))).toBe(false);
});

test('a clear copy does not outlive a process that was killed', async () => {
  const script = `import { withClearCopy } from ${JSON.stringify(new URL('clear-copy.ts', import.meta.url).href)};
    await withClearCopy('a.yaml', Buffer.from('a: 1'), async (path) => {
      process.stdout.write(path, () => process.kill(process.pid, 'SIGKILL'));
      await new Promise(() => undefined);
    });`;
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(signal).toBe('SIGKILL');
  expect(stdout).toMatch(/a\.yaml$/);
  await expect.poll(() => existsSync(dirname(stdout)), { timeout: 30_000 }).toBe(false);
}, 60_000);
