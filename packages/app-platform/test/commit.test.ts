import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@slipway/kube';
import { edit, generateAgeKey } from '@slipway/sops';
import { expect, test } from 'vitest';

import { runGit, type GitRunner } from '../src/git/git-process.ts';
import { WorkingCopy } from '../src/git/working-copy.ts';
import { commit } from '../src/platform/commit.ts';
import { credentials, gitWorld, writeFiles } from './git-kit.ts';
import { stepPlatform } from './step-kit.ts';

/** Many processes of git, which a busy machine lets wait. */
const timeout = 120_000;
const secretFile = 'env/apps/secrets.console.yaml';
const clear = 'kind: AplApp\nspec:\n    cookieSecret: first\n';
const app = (replicas: string) => `kind: AplApp\nspec:\n    replicas: ${replicas}\n`;

/** A platform whose values are on a server, with a secret in them, and the key that opens it. `run`: how it calls git from then on. */
async function committed(run: GitRunner = runGit) {
  const { identity, recipient } = await generateAgeKey();
  const world = await gitWorld();
  const step = await stepPlatform({
    change: { keys: new Set([identity]) },
    files: {
      'README.md': 'values\n',
      '.gitignore': '*.dec\n',
      '.sops.yaml': `creation_rules:\n    - path_regex: ^(.*/)?secrets.*.yaml(\\.dec)?$\n      age: ${recipient}\n`,
      'env/settings/cluster.yaml': 'kind: AplCluster\nspec:\n    name: dev\n    domainSuffix: dev.example.com\n',
      [secretFile]: clear,
    },
  });
  const { platform } = step;
  let isCommitted = false;
  const copy = new WorkingCopy({
    directory: platform.directory,
    remote: { url: world.server.url, credentials },
    branch: 'main',
    identity: { name: 'operator', email: 'operator@example.com' },
    timeoutMs: timeout,
    run: async (args, options) => await (isCommitted ? run : runGit)(args, options),
  });
  expect(await commit(platform, copy, true)).toBe('pushed');
  isCommitted = true;
  return {
    world,
    platform,
    identity,
    copy,
    commit: async () => await commit(platform, copy, false),
    async [Symbol.asyncDispose]() {
      await step[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}

test(
  'a secret that others pushed before is the one we have decrypted after our commit, and the next commit keeps it',
  { timeout },
  async () => {
    await using ours = await committed();
    const { directory } = ours.platform;
    const sealed = await readFile(join(directory, secretFile), 'utf8');
    const options = { format: 'yaml', identities: [ours.identity], clock: systemClock } as const;
    const theirs = (await edit(sealed, clear.replace('first', 'theirs'), options)).toString('utf8');
    await ours.world.push({ [secretFile]: theirs }, 'another secret');
    await writeFiles(directory, { 'env/apps/console.yaml': app('2') });
    expect(await ours.commit()).toBe('merged');
    expect(await readFile(join(directory, `${secretFile}.dec`), 'utf8')).toContain('cookieSecret: theirs');
    await writeFiles(directory, { 'env/apps/console.yaml': app('3') });
    expect(await ours.commit()).toBe('pushed');
    expect(await readFile(join(directory, secretFile), 'utf8')).toBe(theirs);
  },
);

test(
  'a value that others pushed before and that cannot be is refused after our commit, before anything is applied',
  { timeout },
  async () => {
    await using ours = await committed();
    await ours.world.push({ 'env/apps/console.yaml': app('"many"') }, 'oops');
    await writeFiles(ours.platform.directory, { 'env/apps/shop.yaml': app('2') });
    await expect(ours.commit()).rejects.toMatchObject({
      message: 'Values validation failed',
      cause: { problems: [{ file: 'env/apps/console.yaml' }] },
    });
  },
);

test('a secret that is still in clear when files are added keeps all of it here', { timeout }, async () => {
  await using ours = await committed(async (args, options) => {
    // Written after the others were encrypted.
    if (args[0] === 'add') await writeFiles(ours.platform.directory, { 'env/apps/secrets.late.yaml': clear });
    return await runGit(args, options);
  });
  const before = await ours.copy.revision();
  await writeFiles(ours.platform.directory, { 'env/apps/console.yaml': app('2') });
  await expect(ours.commit()).rejects.toThrow('not committed: env/apps/secrets.late.yaml would leave in clear text');
  expect([await ours.copy.revision(), await ours.copy.remoteRevision()]).toEqual([before, before]);
});
