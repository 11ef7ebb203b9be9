#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { keepCompiledCode } from './compiled-code.ts';

// Before anything large is loaded: from the second start on, sources are neither stripped nor compiled again.
keepCompiledCode();

const [{ findCommands, findOperators }, { runProcess }, manifest] = await Promise.all([
  import('./packages.ts'),
  import('./run-process.ts'),
  readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8'),
]);
const { version } = JSON.parse(manifest) as { version: string };
await runProcess({ version, commands: await findCommands(), operators: () => findOperators() });
