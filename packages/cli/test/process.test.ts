import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onReference, skipped } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { readableByOthers, temporaryFolder } from './kit.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');

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

/** Processes that were told of a folder: also those that left the group of who started them. */
async function toldOf(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args=']);
  return stdout.split('\n').filter((args) => args.includes(folder));
}

/** Ends it as people do: a terminal tells the whole group, whoever asks for an end tells the process he knows. */
async function endWith(end: 'Ctrl-C' | 'SIGTERM', child: ChildProcess, home: string): Promise<void> {
  const ended = once(child, 'exit');
  if (end === 'Ctrl-C') process.kill(-child.pid!, 'SIGINT');
  else process.kill(child.pid!, 'SIGTERM');
  await ended;
  // npm ends at once, ours when what it had begun is over: on a busy machine an API server that is just starting takes a while.
  await expect.poll(() => isAlive(child.pid!), { timeout: 150_000, interval: 100 }).toBe(false);
  expect(await toldOf(home)).toEqual([]);
}

describe.skipIf(skipped(!onReference, 'signals through npm: npm takes seconds; npm run test:reference sends them'))(
  'through npm',
  { timeout: 600_000 },
  () => {
    const ways: [string, string, string[]][] = [
      ['npm run', 'npm', ['run', '--silent', 'slipway', '--']],
      ['npx', 'npx', ['slipway']],
    ];

    test.each(ways)('%s: neither Ctrl-C nor SIGTERM leaves a process behind', async (_name, command, argv) => {
      await using home = await temporaryFolder();
      for (const end of ['Ctrl-C', 'SIGTERM'] as const) {
        const child = start(command, [...argv, 'cluster', '--port', '0'], home.path);
        try {
          await says(child, /kubectl get/);
          await endWith(end, child, home.path);
        } finally {
          if (isAlive(child.pid!)) process.kill(-child.pid!, 'SIGKILL');
        }
        // It ended in order: the kubectl configuration that led to it is gone.
        expect(await readdir(join(home.path, '.local', 'state', 'slipway'))).toEqual([]);
      }
    });

    test.each(ways)(
      '%s: an end in the middle of all examples takes the API servers of control planes and every git along, and whatever they wrote is for its owner only',
      async (_name, command, argv) => {
        await using home = await temporaryFolder();
        const folder = join(home.path, 'data');
        const moments = [
          ['SIGTERM', /the embedded API server is starting/],
          // On a slow machine it was completed before the first end.
          ['SIGTERM', /installation +(in-progress|completed)/],
          ['Ctrl-C', /ManagedControlPlane default\/hello → Ready/],
        ] as const;
        for (const [end, moment] of moments) {
          const child = start(command, [...argv, 'up', '--port', '0', '--data', folder], home.path);
          try {
            await says(child, moment);
            await endWith(end, child, home.path);
          } finally {
            if (isAlive(child.pid!)) process.kill(-child.pid!, 'SIGKILL');
          }
          expect(await readableByOthers(folder)).toEqual([]);
        }
        expect((await readdir(join(folder, 'examples'))).toSorted()).toEqual(['app-platform', 'control-plane']);
      },
    );
  },
);
