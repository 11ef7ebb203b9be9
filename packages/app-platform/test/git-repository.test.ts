import { silentLogger } from '@slipway/runtime';
import { VirtualClock } from '@slipway/testing';
import { expect, test } from 'vitest';

import { GitError } from '../src/git/git-error.ts';
import { runGit, type GitRunner } from '../src/git/git-process.ts';
import { remoteHeads, type RemoteHeads } from '../src/git/remote-head.ts';
import type { WorkingCopy } from '../src/git/working-copy.ts';
import { GitRepository, type GitChanges } from '../src/gitops/git-repository.ts';
import type { Platform } from '../src/platform/platform.ts';
import { credentials, gitWorld, impatientClock, writeFiles, type GitWorld } from './git-kit.ts';

const none: GitChanges = { hasChangesToApply: false, applyTeamsOnly: false };
const full: GitChanges = { hasChangesToApply: true, applyTeamsOnly: false };
const teamsOnly: GitChanges = { hasChangesToApply: true, applyTeamsOnly: true };

const settings = { retries: 60, minTimeoutMs: 30_000 };
const platform = (clock: Platform['clock'] = impatientClock()): Platform =>
  ({ clock, settings, log: silentLogger, signal: new AbortController().signal }) as unknown as Platform;

async function followed(
  world: GitWorld,
  run?: GitRunner,
): Promise<{ poll: () => Promise<GitChanges>; repository: GitRepository }> {
  const heads = remoteHeads({ url: world.server.url, credentials });
  const repository = new GitRepository(world.copy('operator', run), heads);
  await repository.clone();
  await repository.waitForCommits(platform());
  return { repository, poll: () => repository.syncAndAnalyzeChanges(platform()) };
}

type Push = [files: Record<string, string | undefined>, message: string];

const team: Record<string, string> = { 'env/teams/red/settings.yaml': 'spec: {a: 1}\n' };
const app: Record<string, string> = { 'env/apps/shop.yaml': 'spec: {a: 1}\n' };

test.each<[row: string, pushes: Push[], expected: GitChanges]>([
  ['newRevision === previousRevision: nothing to apply', [], none],
  [
    'all commits contain [ci skip]: nothing to apply',
    [
      [app, 'a [ci skip]'],
      [team, '[ci skip] b'],
    ],
    none,
  ],
  [
    'one commit without the marker: some commits need apply',
    [
      [app, 'a [ci skip]'],
      [{ 'x.yaml': '' }, 'b'],
    ],
    full,
  ],
  ['the marker below the subject does not count', [[app, 'a\n\n[ci skip]']], full],
  ['only files below env/teams/ changed: teams only', [[team, 'a']], teamsOnly],
  ['only files below teams/ changed: teams only', [[{ 'teams/red/x.yaml': '' }, 'a']], teamsOnly],
  ['teams and other files changed: everything', [[{ ...team, ...app }, 'a']], full],
  [
    'other files changed in a skipped commit: everything',
    [
      [app, 'a [ci skip]'],
      [team, 'b'],
    ],
    full,
  ],
  [
    'a file moved out of a team: everything',
    [[{ 'env/teams/old.yaml': undefined, 'env/apps/old.yaml': 'a\n' }, 'm']],
    full,
  ],
  ['a commit that changes no file: everything', [[{}, 'nothing']], full],
])('syncAndAnalyzeChanges: %s', async (_row, pushes, expected) => {
  await using world = await gitWorld();
  await world.push({ 'README.md': 'x\n', 'env/teams/old.yaml': 'a\n' }, 'first');
  const { poll, repository } = await followed(world);
  const before = repository.lastRevision;
  let head = before;
  for (const [files, message] of pushes) head = await world.push(files, message);
  expect(await poll()).toEqual(expected);
  expect(repository.lastRevision).toBe(head);
  expect(await poll()).toEqual(none);
});

test('a commit costs four processes to look at, one that is there already none', async () => {
  await using world = await gitWorld();
  await world.push(team, 'first');
  const asked: string[] = [];
  const { poll } = await followed(world, async (args, options) => {
    asked.push(args[0]!);
    return await runGit(args, options);
  });
  asked.length = 0;
  await world.push({ 'env/teams/red/settings.yaml': 'spec: {a: 2}\n' }, 'second');
  expect(await poll()).toEqual(teamsOnly);
  expect(asked.sort()).toEqual(['checkout', 'fetch', 'log', 'ls-tree']);
  await poll();
  expect(asked).toHaveLength(4);
});

test('a commit that could not be looked at is looked at again', async () => {
  await using world = await gitWorld();
  await world.push(team, 'first');
  const failing = new Set<string>();
  const { poll } = await followed(world, async (args, options) => {
    if (failing.delete(args[0]!)) throw new GitError('Failed', `git ${args[0]} failed`);
    return await runGit(args, options);
  });
  for (const [index, verb] of ['fetch', 'log', 'checkout'].entries()) {
    await world.push({ 'env/teams/red/settings.yaml': `spec: {b: ${index}}\n` }, verb);
    failing.add(verb);
    await expect(poll()).rejects.toThrow('Repository sync and analysis failed');
    expect([verb, await poll()]).toEqual([verb, teamsOnly]);
  }
});

test('syncAndAnalyzeChanges: first time (no previous revision): everything', async () => {
  await using world = await gitWorld();
  await world.push(team, 'first [ci skip]');
  const repository = new GitRepository(world.copy('operator'), remoteHeads({ url: world.server.url, credentials }));
  await repository.clone();
  expect(await repository.syncAndAnalyzeChanges(platform())).toEqual(full);
});

test('syncAndAnalyzeChanges: git clean -X removes decrypted files before the pull, so that what was deleted stays deleted', async () => {
  await using world = await gitWorld();
  await world.push({ '.gitignore': '*.yaml.dec\n', 'env/users/secrets.a.yaml': 'x\n' }, 'first');
  const { poll, repository } = await followed(world);
  await writeFiles(repository.copy.directory, { 'env/users/secrets.a.yaml.dec': 'x\n' });
  await world.push({ 'env/users/secrets.a.yaml': undefined }, 'gone');
  await poll();
  const { stdout } = await repository.copy.git(['status', '--porcelain', '--ignored']);
  expect(stdout).toBe('');
});

test('waitTillGitRepoAvailable: asks every 30 s until the server answers', async () => {
  const clock = new VirtualClock();
  const asked: number[] = [];
  const heads: RemoteHeads = {
    read: async () => {
      asked.push(clock.now());
      if (asked.length < 4) throw new Error('down');
      return new Map();
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  const waiting = new GitRepository(undefined as never, heads).waitTillAvailable(platform(clock));
  await clock.advance(120_000);
  await waiting;
  expect(asked.map((at) => at - asked[0]!)).toEqual([0, 30_000, 60_000, 90_000]);
});

test('waitForCommits: asks every 30 s until there is a commit, which is where the loops begin', async () => {
  await using world = await gitWorld();
  const copy = world.copy('operator');
  const real = remoteHeads({ url: world.server.url, credentials });
  let pushed = '';
  let asked = 0;
  const heads: RemoteHeads = {
    async read(signal) {
      asked += 1;
      if (asked === 3) pushed = await world.push(team, 'first');
      return await real.read(signal);
    },
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
  const clock = impatientClock();
  const repository = new GitRepository(copy, heads);
  await repository.clone();
  await repository.waitForCommits(platform(clock));
  expect(clock.waits).toEqual([30_000, 30_000]);
  expect(repository.lastRevision).toBe(pushed);
});

test.each([
  ['waitTillAvailable', async () => await Promise.reject(new GitError('Unreachable', 'down')), 'down'],
  ['waitForCommits', async () => new Map<string, string>(), 'the repository has no branch main; push one'],
] as const)('%s: after 60 retries it says what it waited for', async (wait, read, message) => {
  const clock = impatientClock();
  const copy = { branch: 'main' } as WorkingCopy;
  const repository = new GitRepository(copy, { read, [Symbol.asyncDispose]: async () => undefined });
  await expect(repository[wait](platform(clock))).rejects.toMatchObject({ name: 'GitError', message });
  expect(clock.waits).toHaveLength(60);
});
