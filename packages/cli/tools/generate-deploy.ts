import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { findOperators } from '../src/packages.ts';
import { deployFiles, generatedFolders } from './deploy-files.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');
const deploy = join(root, 'deploy');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

for (const folder of generatedFolders) await rm(join(deploy, folder), { recursive: true, force: true });
for (const [path, text] of deployFiles(await findOperators(), version)) {
  await mkdir(dirname(join(deploy, path)), { recursive: true });
  await writeFile(join(deploy, path), text);
  console.log(`deploy/${path}`);
}
