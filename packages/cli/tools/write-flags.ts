import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { withFlagTables } from './flag-tables.ts';

/** Writes the tables of flags in `docs/cli.md`. */
const file = resolve(import.meta.dirname, '..', '..', '..', 'docs', 'cli.md');
await writeFile(file, await withFlagTables(await readFile(file, 'utf8')));
