import { defineCommand } from '@slipway/kube/command';

import { diffReleases } from '../helmfile/diff.ts';
import { changedExitCode, exitCodeFlag } from './change-text.ts';
import { loadFromFlags } from './helmfile-flags.ts';
import { helmfilesOwnWorking } from './helmfile-own-flags.ts';
import { differencesText, helmfileSyncFlags, workOptions } from './helmfile-work-flags.ts';
import { explained, releaseContext } from './release-flags.ts';

/** `slipway helmfile diff`. */
export const helmfileDiffCommand = defineCommand({
  connection: true,
  flags: {
    ...helmfileSyncFlags,
    ...exitCodeFlag,
  },
  knownElsewhere: helmfilesOwnWorking,
  examples: [{ line: 'slipway helmfile diff -l app=core' }],
  async run({ terminal, flags, connect }) {
    return await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      await using cluster = await connect();
      const context = releaseContext(terminal, cluster);
      const differences = await diffReleases(helmfile, context, workOptions(terminal, flags, cluster));
      terminal.out(differencesText(terminal, differences));
      const changed = differences.some(({ action }) => action !== 'none');
      return changed && flags['detailed-exitcode'] ? changedExitCode : 0;
    });
  },
});
