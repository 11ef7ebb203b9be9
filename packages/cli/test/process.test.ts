import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { onReference, skipped } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { readableByOthers, temporaryFolder } from './kit.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');
const main = join(root, 'packages', 'cli', 'src', 'main.ts');

/** A command in a process group of its own, as a terminal starts it. */
function start(command: string, argv: readonly string[], home: string): ChildProcess {
  return spawn(command, argv, {
    cwd: root,
    detached: true,
    env: { ...process.env, HOME: home, XDG_STATE_HOME: '', npm_config_cache: join(home, 'npm') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Reads the output until `pattern` is in it. */
async function says(child: ChildProcess, pattern: RegExp): Promise<void> {
  let text = '';
  child.stderr!.on('data', (chunk: Buffer) => (text += String(chunk)));
  for await (const chunk of child.stdout!) {
    text += String(chunk);
    if (pattern.test(text)) return;
  }
  throw new Error(`ended without ${pattern}:\n${text}`);
}

/** Whether a process of the group is left. */
function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(skipped(!onReference, 'signals through npm: npm takes seconds; SLIPWAY_CLUSTER=reference runs it'))(
  'through npm',
  () => {
    test.each<[string, string, string[]]>([
      ['npm run', 'npm', ['run', '--silent', 'slipway', '--', 'cluster', '--port', '0']],
      ['npx', 'npx', ['slipway', 'cluster', '--port', '0']],
    ])('%s: neither Ctrl-C nor SIGTERM leaves a process behind', async (_name, command, argv) => {
      await using home = await temporaryFolder();
      for (const end of ['Ctrl-C', 'SIGTERM'] as const) {
        const child = start(command, argv, home.path);
        try {
          await says(child, /kubectl get/);
          const ended = once(child, 'exit');
          // A terminal tells the whole group; whoever asks for an end tells the process he knows.
          if (end === 'Ctrl-C') process.kill(-child.pid!, 'SIGINT');
          else process.kill(child.pid!, 'SIGTERM');
          await ended;
          await expect.poll(() => isAlive(child.pid!), { timeout: 20_000 }).toBe(false);
        } finally {
          if (isAlive(child.pid!)) process.kill(-child.pid!, 'SIGKILL');
        }
        // It ended in order: the kubectl configuration that led to it is gone.
        expect(await readdir(join(home.path, '.local', 'state', 'slipway'))).toEqual([]);
      }
    });
  },
);

test.skipIf(
  skipped(!onReference, 'modes under --data with an example in Git: takes seconds; SLIPWAY_CLUSTER=reference runs it'),
)('whatever is under --data is for its owner only, also what Git writes', async () => {
  await using home = await temporaryFolder();
  const folder = join(home.path, 'data');
  const argv = [main, 'up', 'operand', 'app-platform', '--port', '0', '--data', folder];
  const child = start(process.execPath, argv, home.path);
  const ended = once(child, 'exit');
  await says(child, /Operand hello → Ready/);
  process.kill(child.pid!, 'SIGINT');
  await ended;
  expect(await readdir(join(folder, 'examples'))).toContain('app-platform');
  expect(await readableByOthers(folder)).toEqual([]);
});
