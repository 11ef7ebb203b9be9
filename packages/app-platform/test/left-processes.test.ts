import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipped } from '@slipway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { startGitServer } from '../src/git-server/git-server.ts';
import { basicAuthorization } from '../src/git/credentials.ts';
import { runGit } from '../src/git/git-process.ts';

const credentials = { username: 'otomi-admin', password: 'not-a-secret' };

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'left-processes-'))));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** How many run that were started with this folder as their home, as every git of ours is. */
async function running(): Promise<number> {
  const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    numbers.map((number) => readFile(`/proc/${number}/environ`, 'latin1').catch(() => '')),
  );
  return environments.filter((text) => text.split('\0').includes(`HOME=${folder}`)).length;
}

const elsewhere = skipped(process.platform !== 'linux', 'looking for processes that were left: only Linux has /proc');

describe.skipIf(elsewhere)('no git is left behind', () => {
  test('when it is given up: it has ended before that is told', async () => {
    await runGit(['init', '--quiet', '.'], { cwd: folder });
    const stop = new AbortController();
    // It waits for names of objects, for ever.
    const waiting = runGit(['cat-file', '--batch'], { cwd: folder, signal: stop.signal });
    await expect.poll(running).toBe(1);
    stop.abort(new Error('stopping'));
    await expect(waiting).rejects.toThrow('stopping');
    expect(await running()).toBe(0);
  });

  test('when the Git server stops in the middle of a request', async () => {
    const server = await startGitServer({ directory: folder, repository: 'values.git', credentials });
    const push = request(`${server.url}/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: basicAuthorization(credentials),
        'content-type': 'application/x-git-receive-pack-request',
        'content-length': 1000,
      },
    });
    push.once('error', () => undefined).write('00');
    await expect.poll(running).toBeGreaterThan(0);
    await server[Symbol.asyncDispose]();
    expect(await running()).toBe(0);
  });
});
