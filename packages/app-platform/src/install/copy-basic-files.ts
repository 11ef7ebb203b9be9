import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Platform } from '../platform/platform.ts';

/** Files every values repository has: read-me, what Git ignores, and the schema for editors. */
export async function copyBasicFiles({ root, directory }: Platform): Promise<void> {
  await mkdir(directory, { recursive: true });
  const skeleton = root.path('.values');
  for (const name of await readdir(skeleton)) {
    // npm leaves a file of Git's own name out of a package, so ours has it without the dot.
    const target = name === 'gitignore' ? '.gitignore' : name;
    await copyContents(join(skeleton, name), join(directory, target));
  }
  await mkdir(join(directory, '.vscode'), { recursive: true });
  await copyContents(root.path('values-schema.yaml'), join(directory, '.vscode', 'values-schema.yaml'));
  await copyContents(root.path('core.yaml'), join(directory, 'core.yaml'));
}

/** Copies what files hold, not who may read them: a repository with secrets may be for its owner only. */
async function copyContents(source: string, target: string): Promise<void> {
  if (!(await stat(source)).isDirectory()) {
    await writeFile(target, await readFile(source));
    return;
  }
  await mkdir(target, { recursive: true });
  for (const name of await readdir(source)) await copyContents(join(source, name), join(target, name));
}
