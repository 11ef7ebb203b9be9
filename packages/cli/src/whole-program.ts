import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { findCommands, findOperators } from './packages.ts';
import { runProcess } from './run-process.ts';

/** Runs this process with every command and operator of the packages beside this one. */
export async function runWhole(): Promise<void> {
  const manifest = await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  await runProcess({ version, commands: await findCommands(), operators: () => findOperators() });
}
