import { valueAt } from '../values/tree.ts';
import type { Platform } from './platform.ts';

/** What this operator is about to bring. */
export async function deployingNow({
  layers,
  root,
}: Platform): Promise<{ readonly deployingTag: string; readonly deployingVersion: string }> {
  const deployingVersion = await root.version();
  const tag = valueAt(await layers.values('all'), ['otomi', 'version']);
  return { deployingTag: typeof tag === 'string' ? tag : `v${deployingVersion}`, deployingVersion };
}
