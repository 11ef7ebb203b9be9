import { commitCredentials } from '../platform/git-credentials.ts';
import { migrate } from '../platform/migrate.ts';
import type { Platform } from '../platform/platform.ts';
import { ensureTeamGitOpsDirectories } from '../platform/team-directories.ts';
import { writeValues } from '../platform/write-values.ts';
import { decryptSecrets, encryptSecrets } from '../secrets/crypt.ts';
import { storedSecrets } from '../secrets/stored-secrets.ts';
import { merge, valueAt } from '../values/tree.ts';
import { bootstrapSops } from './bootstrap-sops.ts';
import { copyBasicFiles } from './copy-basic-files.ts';
import { handleFileEntry } from './handle-file-entry.ts';
import { processValues } from './process-values.ts';
import { valuesInput } from './values-input.ts';

/** Makes the values repository: everything the platform is made from, complete and encrypted. */
export async function bootstrap(platform: Platform): Promise<void> {
  const { directory, layers } = platform;
  await continueRepository(platform);
  await copyBasicFiles(platform);
  await migrate(platform);
  await processValues(platform);
  await handleFileEntry(platform);
  await bootstrapSops(platform);
  await encryptSecrets(platform);
  await decryptSecrets(platform);
  await writeValues(platform, await layers.values('defaults'));
  await ensureTeamGitOpsDirectories(directory);
}

/** An attempt that got as far as pushing left a repository behind: go on from it. A server that does not answer has none. */
async function continueRepository(platform: Platform): Promise<void> {
  const { keys, client, log, signal } = platform;
  const known = merge(await storedSecrets(client), await valuesInput(platform));
  const identity = valueAt(known, ['kms', 'sops', 'age', 'privateKey']);
  if (typeof identity === 'string') keys.add(identity);
  const credentials = commitCredentials(known);
  if (!credentials) return;
  const copy = platform.repository(credentials);
  await copy.prepare();
  try {
    if ((await copy.remoteRevision(signal)) === undefined) return;
  } catch (error) {
    signal.throwIfAborted();
    log.info('the Git repository is empty or unreachable', { error });
    return;
  }
  await copy.takeRemote(signal);
  await decryptSecrets(platform);
}
