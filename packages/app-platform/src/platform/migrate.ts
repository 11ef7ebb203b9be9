import { decryptSecrets, encryptSecrets } from '../secrets/crypt.ts';
import { migrateValues, type ValuesChange } from '../values/migrate.ts';
import { step } from '../operator-error.ts';
import { customMigration } from './custom-migration.ts';
import type { Platform } from './platform.ts';
import { writeValues } from './write-values.ts';

/** Brings the values of the repository to the version of the platform. */
export async function migrate(platform: Platform): Promise<void> {
  const { root, directory, layers, log } = platform;
  await step('Migration process failed', async () => {
    await decryptSecrets(platform);
    const versions = await migrateValues({
      directory,
      changes: (await root.changes()) as unknown as ValuesChange[],
      read: () => layers.values('files'),
      write: async (tree) => void (await writeValues(platform, tree)),
      readPlatform: (path) => root.text(path),
      findFunction: (name) => customMigration(root, name),
    });
    if (versions.length === 0) return;
    log.info('values migrated', { versions });
    await encryptSecrets(platform);
    await decryptSecrets(platform);
  });
}
