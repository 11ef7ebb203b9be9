import { defineCommand } from '@slipway/kube/command';

import { applyReleases } from '../helmfile/diff.ts';
import { changedExitCode, exitCodeFlag } from './change-text.ts';
import { loadFromFlags } from './helmfile-flags.ts';
import { helmfilesOwnWorking } from './helmfile-own-flags.ts';
import { differencesText, helmfileSyncFlags, workOptions } from './helmfile-work-flags.ts';
import { explained, releaseContext } from './release-flags.ts';

/** `slipway helmfile apply`. */
export const helmfileApplyCommand = defineCommand({
  connection: true,
  flags: { ...helmfileSyncFlags, ...exitCodeFlag },
  knownElsewhere: helmfilesOwnWorking,
  examples: [{ line: 'slipway helmfile apply -f helmfile.d' }],
  async run({ terminal, flags, connect }) {
    return await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      await using cluster = await connect();
      const outcomes = await applyReleases(helmfile, releaseContext(terminal, cluster), {
        ...workOptions(terminal, flags, cluster),
        onDifferences: (differences) => terminal.out(differencesText(terminal, differences)),
      });
      const hasChanged = outcomes.some(({ action }) => action !== 'unchanged');
      return hasChanged && flags['detailed-exitcode'] ? changedExitCode : 0;
    });
  },
});
