import { createCustomCA } from '../secrets/custom-ca.ts';
import { generateSecrets } from '../secrets/generate-secrets.ts';
import { getKmsValues } from '../secrets/kms-values.ts';
import { storedSecrets, storeSecrets } from '../secrets/stored-secrets.ts';
import { getUsers } from '../secrets/users.ts';
import type { Platform } from '../platform/platform.ts';
import { writeValues } from '../platform/write-values.ts';
import { secretRules } from '../values/secret-paths.ts';
import { merge } from '../values/tree.ts';
import { valuesInput } from './values-input.ts';

/**
 * Completes the values with everything that is secret. What an earlier attempt stored is used again: an installation that crashes
 * anywhere comes back to the same passwords, certificate authority and keys.
 */
export async function processValues(platform: Platform): Promise<void> {
  const { client, root, layers, clock, random } = platform;
  const stored = await storedSecrets(client);
  const input = merge(stored, await valuesInput(platform));
  const generated = generateSecrets(secretRules(await root.schema()), input);
  const authority = await createCustomCA(input, clock);
  const kms = await getKmsValues(input);
  const users = getUsers(input, random);
  const all = { ...merge(authority, stored, generated, kms), users };
  // Stored before anything can use them: a crash right after this line loses nothing.
  await storeSecrets(client, all);
  // Over what the repository says already: somebody may have pushed before the installation was complete.
  const present = await layers.values('files');
  await writeValues(platform, { ...merge(present, all, input, kms), users });
}
