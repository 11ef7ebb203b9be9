import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { commitAndPush, commitMessages } from '../src/git/commit-and-push.ts';
import { runGit } from '../src/git/git-process.ts';
import type { WorkingCopy } from '../src/git/working-copy.ts';
import { writeWhole } from '../src/values/write-file.ts';
import { gitWorld, impatientClock, writeFiles, type GitWorld } from './git-kit.ts';

const secret = 'env/apps/secrets.shop.yaml';
const files = { 'README.md': 'hello\n', 'env/apps/shop.yaml': 'a: 1\n', [secret]: 'a: ENC[1]\n' };

/** A checkout without anything else, and which commands of git it took since `asked` was emptied. */
async function checkedOut(world: GitWorld): Promise<{ copy: WorkingCopy; asked: string[] }> {
  const asked: string[] = [];
  const copy = world.copy('operator', async (args, options) => {
    asked.push(args[0]!);
    return await runGit(args, options);
  });
  await copy.prepare();
  await copy.takeRemote();
  await copy.removeUntracked();
  asked.length = 0;
  return { copy, asked };
}

test('what is not in Git is removed, the decrypted file of a secret that is gone among it; where there is nothing, git is not asked', async () => {
  await using world = await gitWorld();
  await world.push(files, 'a');
  const { copy, asked } = await checkedOut(world);
  const left = async () =>
    (await readdir(copy.directory, { recursive: true })).filter((path) => !/^\.git\b/.test(path));
  const before = await left();
  await writeFiles(copy.directory, { [`${secret}.dec`]: 'a: 1\n' });
  await copy.removeUntracked();
  expect(asked).toEqual([]);

  for (const path of [
    'env/apps/new.yaml',
    'env/apps/secrets.gone.yaml.dec',
    'env/empty/deep/.gitkeep',
    'env/apps/.new.yaml.slipway-tmp',
    'other/.git/config',
  ]) {
    await writeFiles(copy.directory, { [path]: 'x\n' });
    await copy.removeUntracked();
    expect([path, await left()]).toEqual([path, before]);
  }
  expect(asked).toEqual(Array.from({ length: 5 }, () => 'clean'));
  await writeFiles(copy.directory, { 'env/nothing/x': 'x\n' });
  await rm(join(copy.directory, 'env/nothing/x'));
  await copy.removeUntracked();
  expect(await left()).toEqual(before);
});

test('whether there is something to commit is seen without git while no file was replaced, and never overlooked', async () => {
  await using world = await gitWorld();
  await world.push(files, 'a');
  const { copy, asked } = await checkedOut(world);
  const shop = join(copy.directory, 'env/apps/shop.yaml');
  await writeFiles(copy.directory, { [`${secret}.dec`]: 'a: 1\n' });
  expect(await copy.hasChanges()).toBe(false);
  expect(asked).toEqual([]);

  await writeWhole(shop, 'a: 2\n');
  expect(['another content of the same size', await copy.hasChanges()]).toEqual([
    'another content of the same size',
    true,
  ]);
  await writeWhole(shop, 'a: 1\n');
  expect(['as it was', await copy.hasChanges()]).toEqual(['as it was', false]);
  expect(asked).toEqual(['status', 'status']);
  expect(await copy.hasChanges()).toBe(false);
  expect(asked).toHaveLength(2);

  await writeFiles(copy.directory, { 'env/apps/new.yaml': 'a: 1\n' });
  expect(['a new file', await copy.hasChanges()]).toEqual(['a new file', true]);
  await rm(join(copy.directory, 'env/apps/new.yaml'));
  await rm(shop);
  expect(['a file less', await copy.hasChanges()]).toEqual(['a file less', true]);

  const clock = impatientClock();
  expect(await commitAndPush(copy, { message: commitMessages.values, clock })).toBe('pushed');
  expect(await copy.hasChanges()).toBe(false);
});

test('a decrypted file never leaves, whatever the repository ignores', async () => {
  await using world = await gitWorld();
  await world.push({ ...files, '.gitignore': '!*.dec\n' }, 'a');
  const { copy } = await checkedOut(world);
  const push = async () => await commitAndPush(copy, { message: commitMessages.values, clock: impatientClock() });
  await writeFiles(copy.directory, { ...files, [`${secret}.dec`]: 'a: 1\n' });
  expect(await push()).toBe('unchanged');
  await writeFiles(copy.directory, { 'env/apps/shop.yaml': 'a: 2\n' });
  expect(await push()).toBe('pushed');
  expect(await world.refusedPushes()).toBe('');
  const { stdout } = await copy.git(['ls-tree', '-r', '--name-only', 'origin/main']);
  expect(stdout.split('\n').filter(Boolean).sort()).toEqual(['.gitignore', ...Object.keys(files)].sort());
});

test('git that somebody kills, as a kernel without memory does, leaves no lock behind: the next call works', async () => {
  await using world = await gitWorld();
  await world.push(files, 'a');
  const { copy } = await checkedOut(world);
  await writeFiles(copy.directory, { '.git/index.lock': '' });
  const dying = ['-c', 'alias.die=!kill -KILL $PPID', 'die'];
  await expect(copy.git(dying)).rejects.toMatchObject({ code: 'Killed', message: expect.stringContaining('SIGKILL') });
  await writeFiles(copy.directory, { 'env/apps/shop.yaml': 'a: 2\n' });
  await copy.git(['add', '--all']);
});

test('disk full while git writes: the push fails with what git says, nothing half arrives, and with room again it does', async () => {
  await using world = await gitWorld();
  const before = await world.push(files, 'a');
  const { copy } = await checkedOut(world);
  const push = async () =>
    await commitAndPush(copy, {
      message: commitMessages.values,
      clock: impatientClock(),
      signal: AbortSignal.timeout(60_000),
    });
  await writeFiles(copy.directory, { 'env/apps/shop.yaml': `a: ${'x'.repeat(10_000)}\n` });
  const restore = await withoutRoomForGit(world.folder);
  try {
    await expect(push()).rejects.toMatchObject({ code: 'Failed', message: expect.stringContaining('File too large') });
    expect(await copy.revision()).toBe(before);
  } finally {
    restore();
  }
  expect(await push()).toBe('pushed');
  await copy.git(['fsck', '--strict']);
  expect(await copy.remoteRevision()).toBe(await copy.revision());
});

/** Puts a git first in the path whose writes to files fail as on a full disk. Gives what takes it away. */
async function withoutRoomForGit(folder: string): Promise<() => void> {
  const { PATH: path = '' } = process.env;
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const wrapper = `#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nPATH='${path}' exec git "$@"\n`;
  await writeFile(join(bin, 'git'), wrapper, { mode: 0o755 });
  process.env['PATH'] = `${bin}:${path}`;
  return () => void (process.env['PATH'] = path);
}
