import { commitAndPush, commitMessages, type PushOutcome } from '../git/commit-and-push.ts';
import { GitError } from '../git/git-error.ts';
import type { WorkingCopy } from '../git/working-copy.ts';
import { decryptSecrets, encryptSecrets, secretsInClear } from '../secrets/crypt.ts';
import { validateValues } from './validate-values.ts';
import type { Platform } from './platform.ts';

/** Brings the values to Git: valid, encrypted, over what others pushed. The first installation says so in its message. */
export async function commit(platform: Platform, copy: WorkingCopy, initial: boolean): Promise<PushOutcome> {
  const { clock, signal } = platform;
  await validateValues(platform);
  await copy.prepare();
  await encryptSecrets(platform);
  const message = initial ? commitMessages.initial : commitMessages.values;
  // The first commit is small and makes the branch; an installation has two.
  if ((await copy.revision()) === undefined) {
    await copy.git(['add', 'README.md']);
    await copy.git(['commit', '--quiet', '--no-verify', '-m', message]);
  }
  const outcome = await commitAndPush(copy, { message, clock, signal, inspect: () => refuseClearSecrets(platform) });
  if (outcome === 'merged') {
    // What others pushed meanwhile nobody has looked at yet, and of its secrets we have older ones decrypted.
    await decryptSecrets(platform);
    await validateValues(platform);
  }
  return outcome;
}

async function refuseClearSecrets({ directory }: Platform): Promise<void> {
  const clear = await secretsInClear(directory);
  if (clear.length > 0) throw new GitError('Failed', `not committed: ${clear.join(', ')} would leave in clear text`);
}
