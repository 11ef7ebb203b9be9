import { spawn } from 'node:child_process';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Child, startChild, tailOfLog } from './child.ts';
import { isAlive } from './is-alive.ts';

let dir: string;
const children: Child[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slipway-child-test-'));
});

afterEach(async () => {
  // A test that fails must not leave a loop behind that runs for ever.
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

async function shell(script: string): Promise<Child> {
  const child = await startChild('child', '/bin/sh', ['-c', script], join(dir, 'log'));
  children.push(child);
  return child;
}

describe('a child', () => {
  it('says how it ended and what it wrote last', async () => {
    const child = await shell('for i in 1 2 3 4 5; do echo line $i; done; echo failed >&2; exit 7');
    await child.exited;
    expect(child.hasExited()).toBe(true);
    expect(child.howItEnded()).toBe('exit code 7');
    expect(await tailOfLog(child, 2)).toBe('line 5\nfailed');
  });

  it('is asked to end first', async () => {
    const child = await shell('trap "echo bye; exit 0" TERM; echo up; while :; do /bin/sleep 0.01; done');
    await expect.poll(() => tailOfLog(child)).toBe('up');
    await child.stop(60_000);
    expect(child.howItEnded()).toBe('exit code 0');
    expect(await tailOfLog(child)).toBe('up\nbye');
  });

  it('is killed when it does not listen', async () => {
    const child = await shell('trap "" TERM; echo up; while :; do /bin/sleep 0.01; done');
    await expect.poll(() => tailOfLog(child)).toBe('up');
    await child.stop(1);
    expect(child.howItEnded()).toBe('signal SIGKILL');
    expect(isAlive(child.pid)).toBe(false);
  });

  it('that cannot be started names its binary', async () => {
    const binary = join(dir, 'nothing');
    await expect(startChild('nothing', binary, [], join(dir, 'log'))).rejects.toThrow(`cannot start ${binary}`);
  });
});

describe('the orphan guard', () => {
  /** A process that starts a sleeper under a guard, says the sleeper's pid, and then runs `then`. */
  function startParent(then: string) {
    const script = `
      import { spawn } from 'node:child_process';
      import { startOrphanGuard } from ${JSON.stringify(join(import.meta.dirname, 'orphan-guard.ts'))};
      const guard = startOrphanGuard(${JSON.stringify(join(dir, 'data'))});
      const sleeper = spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
      guard.watch([sleeper.pid]);
      console.log(sleeper.pid);
      ${then}`;
    const parent = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = new Promise<number>((resolve) => parent.stdout.once('data', (text) => resolve(Number(text))));
    const ended = new Promise((resolve) => parent.once('exit', resolve));
    return { parent, pid, ended };
  }

  it('ends the children and removes the folder of a process that was killed', async () => {
    await startChild('mkdir', '/bin/mkdir', [join(dir, 'data')], join(dir, 'log')).then((child) => child.exited);
    const { parent, pid } = startParent('setInterval(() => {}, 1000);');
    const sleeper = await pid;
    expect(isAlive(sleeper)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(sleeper), { timeout: 60_000 }).toBe(false);
    await expect
      .poll(() =>
        access(join(dir, 'data')).then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone');
  });

  it('does nothing after it was dismissed', async () => {
    const { pid, ended } = startParent('guard.dismiss(); sleeper.unref();');
    const sleeper = await pid;
    await ended;
    expect(isAlive(sleeper)).toBe(true);
    process.kill(sleeper, 'SIGKILL');
  });
});
