import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acquireBuildLock } from './build-lock.ts';

let dir: string;
let file: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slipway-lock-test-'));
  file = join(dir, 'build.lock');
});

afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

it('lets one in at a time, and the next when the first is done', async () => {
  const first = await acquireBuildLock(file);
  const events: string[] = [];
  const second = acquireBuildLock(file, { retryMs: 1, onWait: () => events.push('waits') }).then((lock) => {
    events.push('enters');
    return lock;
  });
  await expect.poll(() => events).toEqual(['waits']);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  expect(events).toEqual(['waits', 'enters']);
});

it('stops waiting when told so', async () => {
  using _held = await acquireBuildLock(file);
  await expect(acquireBuildLock(file, { retryMs: 1, signal: AbortSignal.abort() })).rejects.toThrow('aborted');
});

it('is not held by a process that was killed', async () => {
  const script = `
    const { acquireBuildLock } = await import(${JSON.stringify(join(import.meta.dirname, 'build-lock.ts'))});
    globalThis.lock = await acquireBuildLock(${JSON.stringify(file)});
    console.log('held');
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => holder.once('exit', resolve));
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  let waited = false;
  const mine = acquireBuildLock(file, { retryMs: 1, onWait: () => (waited = true) });
  await expect.poll(() => waited).toBe(true);
  holder.kill('SIGKILL');
  await ended;
  (await mine)[Symbol.dispose]();
});
