import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { commitAndPush, commitMessages } from '../src/git/commit-and-push.ts';
import { GitError } from '../src/git/git-error.ts';
import { runGit } from '../src/git/git-process.ts';
import { headsIn, remoteHeads } from '../src/git/remote-head.ts';
import { basicAuthorization } from '../src/git/credentials.ts';
import { canary, credentials, gitWorld, impatientClock, writeFiles } from './git-kit.ts';

const message = commitMessages.values;
/** Many processes of git, which a busy machine lets wait. */
const timeout = 120_000;

test('git add, commit, push: the first commit makes the branch, and nothing to commit pushes nothing', async () => {
  await using world = await gitWorld();
  const copy = world.copy('operator');
  await copy.prepare();
  await writeFiles(copy.directory, { 'README.md': 'hello\n' });
  const clock = impatientClock();
  expect(await commitAndPush(copy, { message, clock })).toBe('pushed');
  expect(await copy.remoteRevision()).toBe(await copy.revision());
  expect(await commitAndPush(copy, { message, clock })).toBe('unchanged');
});

test('what is refused right before the commit stays here: nothing is committed, and nothing pushed', async () => {
  await using world = await gitWorld();
  const before = await world.push({ 'README.md': 'hello\n' }, 'first');
  const copy = world.copy('operator');
  await copy.prepare();
  await copy.takeRemote();
  await writeFiles(copy.directory, { 'env/apps/secrets.shop.yaml': 'spec: {}\n' });
  const inspect = async () => {
    throw new GitError('Failed', 'a secret in clear');
  };
  const clock = impatientClock();
  await expect(commitAndPush(copy, { message, clock, inspect })).rejects.toThrow('a secret in clear');
  expect([await copy.revision(), await copy.remoteRevision()]).toEqual([before, before]);
});

test('a commit somebody pushed meanwhile is rebased over, and none is lost', async () => {
  await using world = await gitWorld();
  const copy = world.copy('operator');
  await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
  await copy.prepare();
  await copy.takeRemote();
  await world.push({ 'b.yaml': 'b: 1\n' }, 'b');
  await writeFiles(copy.directory, { 'c.yaml': 'c: 1\n' });
  expect(await commitAndPush(copy, { message, clock: impatientClock() })).toBe('merged');
  expect((await readdir(copy.directory)).filter((name) => name.endsWith('.yaml'))).toEqual([
    'a.yaml',
    'b.yaml',
    'c.yaml',
  ]);
});

test('a merge conflict is aborted, our commit dropped and theirs kept, without an error', { timeout }, async () => {
  await using world = await gitWorld();
  const copy = world.copy('operator');
  await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
  await copy.prepare();
  await copy.takeRemote();
  const before = await copy.revision();
  await world.push({ 'a.yaml': 'a: theirs\n' }, 'b');
  const theirs = await world.push({ 'b.yaml': 'b: theirs\n' }, 'c');
  await writeFiles(copy.directory, { 'a.yaml': 'a: ours\n' });
  const clock = impatientClock();
  expect(await commitAndPush(copy, { message, clock })).toBe('conflict');
  expect(clock.waits).toEqual([]);
  expect(await copy.revision()).toBe(before);
  const { stdout: branch } = await copy.git(['symbolic-ref', '--short', 'HEAD']);
  expect(branch.trim()).toBe(copy.branch);
  expect(await copy.remoteRevision()).toBe(theirs);
  await copy.takeRemote();
  expect(await readFile(join(copy.directory, 'a.yaml'), 'utf8')).toBe('a: theirs\n');
});

test.each([
  ['pull', 'before it arrives'],
  ['push', 'before it arrives'],
  ['push', 'after it has arrived'],
])(
  'a %s that fails %s is tried again: our commit stays, and that others had pushed before is not forgotten',
  { timeout },
  async (verb, when) => {
    await using world = await gitWorld();
    let failures = 0;
    const copy = world.copy('operator', async (args, options) => {
      if (args[0] !== verb || failures > 0) return await runGit(args, options);
      failures += 1;
      if (when === 'after it has arrived') await runGit(args, options);
      throw new GitError('Failed', 'the connection broke');
    });
    await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
    await copy.prepare();
    await copy.takeRemote();
    const theirs = await world.push({ 'b.yaml': 'b: 1\n' }, 'b');
    await writeFiles(copy.directory, { 'c.yaml': 'c: 1\n' });
    expect(await commitAndPush(copy, { message, clock: impatientClock() })).toBe('merged');
    expect(failures).toBe(1);
    expect(await copy.remoteRevision()).toBe(await copy.revision());
    expect(await copy.subjects(theirs, 'HEAD')).toEqual([message]);
  },
);

test(
  'a commit that is on no branch, as after a rebase that was interrupted, is pushed to ours',
  { timeout },
  async () => {
    await using world = await gitWorld();
    const copy = world.copy('operator');
    await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
    await copy.prepare();
    await copy.takeRemote();
    await copy.git(['checkout', '--quiet', '--detach']);
    await writeFiles(copy.directory, { 'b.yaml': 'b: 1\n' });
    expect(await commitAndPush(copy, { message, clock: impatientClock() })).toBe('pushed');
    expect(await copy.remoteRevision()).toBe(await copy.revision());
  },
);

test(
  'a commit that could not be pushed goes with the next push, also when there is nothing more to commit',
  { timeout },
  async () => {
    await using world = await gitWorld();
    let isDown = true;
    const copy = world.copy('operator', async (args, options) => {
      if (isDown && args[0] === 'push') throw new GitError('Unreachable', 'the server is down');
      return await runGit(args, options);
    });
    await copy.prepare();
    await writeFiles(copy.directory, { 'a.yaml': 'a: 1\n' });
    const clock = impatientClock();
    await expect(commitAndPush(copy, { message, clock })).rejects.toThrow('the server is down');
    isDown = false;
    expect(await commitAndPush(copy, { message, clock })).toBe('pushed');
    expect(await copy.remoteRevision()).toBe(await copy.revision());
  },
);

test('a commit that is on the server already, though nobody here knows, is not pushed again', { timeout }, async () => {
  await using world = await gitWorld();
  const verbs: string[] = [];
  const copy = world.copy('operator', async (args, options) => {
    verbs.push(args[0]!);
    return await runGit(args, options);
  });
  await copy.prepare();
  await writeFiles(copy.directory, { 'a.yaml': 'a: 1\n' });
  const clock = impatientClock();
  expect(await commitAndPush(copy, { message, clock })).toBe('pushed');
  await copy.git(['update-ref', '-d', 'refs/remotes/origin/main']);
  verbs.length = 0;
  expect(await commitAndPush(copy, { message, clock })).toBe('unchanged');
  expect(verbs).not.toContain('push');
});

test('any other failure of a push is tried again 20 times, with pauses that double up to 30 s', async () => {
  const world = await gitWorld();
  const copy = world.copy('operator');
  await copy.prepare();
  await writeFiles(copy.directory, { 'a.yaml': 'a: 1\n' });
  await world.server[Symbol.asyncDispose]();
  const clock = impatientClock();
  await expect(commitAndPush(copy, { message, clock })).rejects.toBeInstanceOf(GitError);
  expect(clock.waits).toHaveLength(20);
  expect(clock.waits.slice(0, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  await world[Symbol.asyncDispose]();
});

test('a force-pushed history is followed', async () => {
  await using world = await gitWorld();
  const copy = world.copy('operator');
  await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
  await copy.prepare();
  await copy.takeRemote();
  const other = world.copy('other');
  await other.prepare();
  await writeFiles(other.directory, { 'z.yaml': 'z: 1\n' });
  await other.git(['add', '--all']);
  await other.git(['commit', '--quiet', '-m', 'a new beginning']);
  await other.atRemote(['push', '--quiet', '--force', 'origin', 'main']);
  await copy.takeRemote();
  expect(await copy.revision()).toBe(await other.revision());
  expect((await readdir(copy.directory)).filter((name) => name.endsWith('.yaml'))).toEqual(['z.yaml']);
});

test('a poll asks the server for its branches by HTTP', async () => {
  await using world = await gitWorld();
  await using heads = remoteHeads({ url: world.server.url, credentials });
  expect([...(await heads.read())]).toEqual([]);
  const commit = await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
  expect([...(await heads.read())]).toEqual([['main', commit]]);
});

test('a refused password and a missing repository are told apart', async () => {
  await using world = await gitWorld();
  await using wrong = remoteHeads({ url: world.server.url, credentials: { ...credentials, password: 'x' } });
  await expect(wrong.read()).rejects.toMatchObject({ code: 'Unauthorized' });
  await using missing = remoteHeads({ url: world.server.url.replace('values', 'nothing'), credentials });
  await expect(missing.read()).rejects.toMatchObject({ code: 'NotFound' });
});

test('an answer that is no list of references is an error, not an empty repository', () => {
  expect(() => headsIn(Buffer.from('<html>not git</html>'))).toThrow(GitError);
  expect(() => headsIn(Buffer.from('0003'))).toThrow(GitError);
});

test('the password is in no URL, configuration or error', async () => {
  await using world = await gitWorld();
  const copy = world.copy('operator');
  await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
  await copy.prepare();
  await copy.takeRemote();
  const config = await readFile(join(copy.directory, '.git', 'config'), 'utf8');
  const { stdout: reflog } = await copy.git(['reflog']);
  const failure = await copy.atRemote(['checkout', canary]).catch((error: unknown) => String(error));
  for (const text of [config, reflog, String(failure)]) {
    expect(text).not.toContain(canary);
    expect(text).not.toContain(basicAuthorization(credentials).slice(6));
  }
  expect(failure).toContain('****');
});

test('a lock that a killed git left in the folder is removed by the next process', async () => {
  await using world = await gitWorld();
  await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
  const dead = world.copy('operator');
  await dead.prepare();
  for (const lock of ['index.lock', 'config.lock', 'HEAD.lock', 'refs/heads/main.lock'])
    await writeFiles(dead.directory, { [`.git/${lock}`]: '' });
  const copy = world.copy('operator');
  await copy.prepare();
  await copy.takeRemote();
  expect(await copy.revision()).toBe(await copy.remoteRevision());
});

test('git that is killed for taking too long leaves no lock to the call after it', async () => {
  await using world = await gitWorld();
  const directory = join(world.folder, 'operator');
  const copy = world.copy('operator', async (args, options) => {
    if (args[0] !== 'add') return await runGit(args, options);
    await writeFiles(directory, { '.git/index.lock': '' });
    throw new GitError('Timeout', 'git add took longer than 1 ms');
  });
  await copy.prepare();
  await writeFiles(directory, { 'a.yaml': 'a: 1\n' });
  await expect(copy.git(['add', '--all'])).rejects.toMatchObject({ code: 'Timeout' });
  expect(await readdir(join(directory, '.git'))).not.toContain('index.lock');
});

test('a repository whose making was interrupted is made', async () => {
  await using world = await gitWorld();
  const commit = await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
  await writeFiles(join(world.folder, 'operator'), { '.git/description': '' });
  const copy = world.copy('operator');
  await copy.prepare();
  await copy.takeRemote();
  expect(await copy.revision()).toBe(commit);
});

test('a folder inside of another repository is no part of it', async () => {
  await using world = await gitWorld();
  await world.push({ 'a.yaml': 'a: 1\n' }, 'a');
  const outer = world.copy('user');
  await outer.prepare();
  await outer.takeRemote();
  await writeFiles(outer.directory, { 'inner/b.yaml': '' });
  expect(await world.copy('user/inner').revision()).toBeUndefined();
});
