import { access } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

import type { CustomMigration } from '../values/migrate.ts';
import type { PlatformRoot } from '../values/platform-root.ts';
import { ValuesError } from '../values/values-error.ts';

/** A function of the platform's own for its values: `migrations/NAME.mjs` exports it as `migrate`. */
export async function customMigration(root: PlatformRoot, name: string): Promise<CustomMigration | undefined> {
  const file = `migrations/${name}.mjs`;
  if (!/^[\w-]+$/.test(name))
    throw new ValuesError('Migration', `customFunctions: '${name}' must be letters, digits, hyphens and underscores`);
  const path = root.path(file);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const module = (await import(/* @vite-ignore */ pathToFileURL(path).href).catch((cause: unknown) => {
    throw new ValuesError('Migration', `${file} of the platform cannot be loaded: ${String(cause)}`, [], cause);
  })) as { readonly migrate?: CustomMigration };
  if (typeof module.migrate !== 'function')
    throw new ValuesError('Migration', `${file} of the platform must export a function migrate(values)`);
  return module.migrate;
}
