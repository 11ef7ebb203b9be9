import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { teamFolders } from '../values/kinds.ts';
import { teamsIn } from '../values/load.ts';

/** Gives every team the folders its own files go to. What is there stays. */
export async function ensureTeamGitOpsDirectories(directory: string): Promise<void> {
  for (const team of await teamsIn(directory)) {
    for (const folder of teamFolders) {
      const path = join(directory, 'env', 'teams', team, folder);
      if (existsSync(join(path, '.gitkeep'))) continue;
      await mkdir(path, { recursive: true });
      await writeFile(join(path, '.gitkeep'), '', { flag: 'a' });
    }
  }
}
