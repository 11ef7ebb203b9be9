import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** A row of the table in docs/security.md: what is promised, and the test files that hold it to that. */
export interface CheckedPromise {
  readonly promise: string;
  /** From the root of the repository. */
  readonly files: readonly string[];
}

/** The promises of docs/security.md. The page names a test as `PACKAGE/PATH`. */
export async function checkedPromises(): Promise<CheckedPromise[]> {
  const page = await readFile(join(root, 'docs', 'security.md'), 'utf8');
  return [...page.matchAll(/^\| \*\*(.+?)\*\*.*\|(.*)\|$/gm)].map(([, promise = '', checks = '']) => ({
    promise,
    files: [...checks.matchAll(/`([\w-]+\/[\w./-]+\.test\.ts)`/g)].map(([, file]) => `packages/${file}`),
  }));
}
