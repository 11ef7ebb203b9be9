import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { generateAgeKey } from '@slipway/sops';
import { systemClock } from '@slipway/kube';
import { expect, test } from 'vitest';

import { commitAndPush, commitMessages } from '../src/git/commit-and-push.ts';
import { runGit, type GitRunner } from '../src/git/git-process.ts';
import { encryptSecrets, secretsInClear } from '../src/secrets/crypt.ts';
import { clearSecret, gitWorld, impatientClock, writeFiles } from './git-kit.ts';

const full = process.env['SLIPWAY_SWEEP'] === 'full';
/** Of both writers together. Five hundred take minutes: `SLIPWAY_SOAK=1`. */
const pushes = process.env['SLIPWAY_SOAK'] === '1' ? 500 : full ? 100 : 8;
/** In every so many rounds neither pushes before both have seen what the server has: one of them comes too late. */
const meetEvery = 3;

/** Whoever comes first waits for the other. */
function meeting(): () => Promise<void> {
  let first: (() => void) | undefined;
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (first) {
      first();
      first = undefined;
    } else {
      first = resolve;
      await promise;
    }
  };
}

test(
  `two writers race on one branch for ${pushes} pushes: no commit is lost, and no secret ever leaves in clear`,
  { timeout: pushes > 8 ? 1_800_000 : 300_000 },
  async () => {
    await using world = await gitWorld();
    const { identity, recipient } = await generateAgeKey();
    const rule = `creation_rules:\n  - path_regex: ^(.*/)?secrets.*.yaml(\\.dec)?$\n    age: ${recipient}\n`;
    await world.push({ '.sops.yaml': rule, '.gitignore': '*.yaml.dec\n' }, 'first');
    const clock = impatientClock();

    const meet = meeting();

    async function write(name: string): Promise<number> {
      let meets = false;
      const run: GitRunner = async (args, options) => {
        if (args[0] === 'push' && meets) {
          meets = false;
          await meet();
        }
        return await runGit(args, options);
      };
      const copy = world.copy(name, run);
      await copy.prepare();
      await copy.takeRemote();
      let merged = 0;
      for (let round = 0; round < pushes / 2; round += 1) {
        await mkdir(join(copy.directory, 'env', 'apps'), { recursive: true });
        await writeFiles(copy.directory, {
          [`env/apps/${name}-${round}.yaml`]: `spec: {round: ${round}}\n`,
          [`env/apps/secrets.${name}-${round}.yaml`]: `spec: {password: ${clearSecret}-${name}-${round}}\n`,
        });
        await encryptSecrets({ directory: copy.directory, keys: new Set([identity]), clock: systemClock });
        meets = round % meetEvery === 0;
        const outcome = await commitAndPush(copy, {
          message: commitMessages.values,
          clock,
          inspect: async () => expect(await secretsInClear(copy.directory)).toEqual([]),
        });
        expect(['pushed', 'merged']).toContain(outcome);
        if (outcome === 'merged') merged += 1;
      }
      return merged;
    }

    const merges = await Promise.all(['red', 'blue'].map(write));
    const reader = world.copy('reader');
    await reader.prepare();
    await reader.takeRemote();
    const { stdout } = await reader.git(['rev-list', '--count', 'HEAD']);
    expect(Number(stdout)).toBe(pushes + 1);
    expect(await reader.entries('env')).toHaveLength(2 * pushes);
    expect(await world.refusedPushes()).toBe('');
    // Otherwise it was no race.
    expect(merges[0]! + merges[1]!).toBeGreaterThanOrEqual(Math.ceil(pushes / 2 / meetEvery));
  },
);

test('the server of these tests refuses a push with a secret in clear, and says so', async () => {
  await using world = await gitWorld();
  const copy = world.copy('careless');
  await copy.prepare();
  await writeFiles(copy.directory, { 'env/apps/secrets.a.yaml': `spec: {password: ${clearSecret}}\n` });
  await copy.git(['add', '--all']);
  await copy.git(['commit', '--quiet', '-m', 'oops']);
  await expect(copy.atRemote(['push', '--quiet', 'origin', 'main'])).rejects.toThrow('git push failed');
  expect(await world.refusedPushes()).toContain(clearSecret);
  expect(await copy.remoteRevision()).toBeUndefined();
});
