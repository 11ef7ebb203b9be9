import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

import { findOperators } from '../src/packages.ts';
import { deployFiles, generatedFolders } from './deploy-files.ts';
import { withFlagTables } from './flag-tables.ts';

/** Compares what follows from the operators and commands with what is in the repository; a step of `npm run check`. */
const root = resolve(import.meta.dirname, '..', '..', '..');
const deploy = join(root, 'deploy');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

const stale: string[] = [];
const wanted = deployFiles(await findOperators(), version);
for (const [path, text] of wanted) {
  const present = await readFile(join(deploy, path), 'utf8').catch(() => undefined);
  if (present !== text) stale.push(`deploy/${path} is ${present === undefined ? 'missing' : 'stale'}`);
}
for (const folder of generatedFolders)
  for (const entry of await readdir(join(deploy, folder), { recursive: true, withFileTypes: true })) {
    const path = relative(deploy, join(entry.parentPath, entry.name));
    if (entry.isFile() && !wanted.has(path)) stale.push(`deploy/${path} is left over`);
  }
const page = await readFile(join(root, 'docs', 'cli.md'), 'utf8');
if (page !== (await withFlagTables(page))) stale.push('docs/cli.md has other flags than the commands');

if (stale.length > 0) {
  console.error(`${stale.join('\n')}\nnpm run generate brings them up to date`);
  process.exitCode = 1;
}
