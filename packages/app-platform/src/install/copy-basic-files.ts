import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Platform } from '../platform/platform.ts';

/** Files every values repository has: read-me, what Git ignores, and the schema for editors. */
export async function copyBasicFiles({ root, directory }: Platform): Promise<void> {
  await mkdir(directory, { recursive: true });
  const skeleton = root.path('.values');
  for (const name of await readdir(skeleton)) {
    // npm leaves a file of Git's own name out of a package, so ours has it without the dot.
    const target = name === 'gitignore' ? '.gitignore' : name;
    await cp(join(skeleton, name), join(directory, target), { recursive: true, force: true });
  }
  await mkdir(join(directory, '.vscode'), { recursive: true });
  await cp(root.path('values-schema.yaml'), join(directory, '.vscode', 'values-schema.yaml'), { force: true });
  await cp(root.path('core.yaml'), join(directory, 'core.yaml'), { force: true });
}
