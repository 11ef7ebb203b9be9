import type { GitCredentials } from '../git/credentials.ts';
import { OperatorError } from '../operator-error.ts';
import { names } from '../names.ts';
import { commitCredentials } from '../platform/git-credentials.ts';
import type { Platform } from '../platform/platform.ts';
import { storedSecrets } from '../secrets/stored-secrets.ts';
import { readSecret, writeSecret } from '../state/records.ts';
import { merge, type Tree, valueAt } from '../values/tree.ts';

/**
 * Between the phases: takes the key that opens the secret files, and the credentials of the repository, from where they are kept. What is
 * not kept yet is taken from what the installation made, and kept.
 */
export async function setEnvAndCreateSecrets(platform: Platform): Promise<GitCredentials> {
  const made = await storedSecrets(platform.client);
  await takeSopsKey(platform, made);
  const place = { namespace: names.operatorNamespace, name: names.gitCredentials };
  const { GIT_USERNAME: username, GIT_PASSWORD: password } = await readSecret(platform.client, place);
  if (username && password) return { username, password };
  const credentials = commitCredentials(merge(made, await platform.layers.values('all')));
  if (!credentials) {
    throw new OperatorError(
      'NoGitPassword',
      `apps.gitea.adminPassword is not known; write GIT_USERNAME and GIT_PASSWORD into the Secret ${place.name}`,
    );
  }
  await writeSecret(platform.client, place, { GIT_USERNAME: credentials.username, GIT_PASSWORD: credentials.password });
  return credentials;
}

async function takeSopsKey({ client, keys, settings }: Platform, made: Tree): Promise<void> {
  const place = { namespace: names.operatorNamespace, name: names.sopsSecrets };
  const { SOPS_AGE_KEY: kept } = await readSecret(client, place);
  const fresh = valueAt(made, ['kms', 'sops', 'age', 'privateKey']);
  for (const key of [settings.sopsAgeKey, kept, fresh]) if (typeof key === 'string' && key !== '') keys.add(key);
  if (!kept && typeof fresh === 'string') await writeSecret(client, place, { SOPS_AGE_KEY: fresh });
}
