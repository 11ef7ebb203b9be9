import { defineCommand } from '@slipway/kube/command';

import { applyReleases } from '../helmfile/diff.ts';
import { loadFromFlags } from './helmfile-flags.ts';
import { differencesText, helmfileSyncFlags, outcomesText, workOptions } from './helmfile-work-flags.ts';
import { explained, releaseContext } from './release-flags.ts';

/** `slipway helmfile apply`. */
export const helmfileApplyCommand = defineCommand({
  connection: true,
  flags: helmfileSyncFlags,
  examples: [{ line: 'slipway helmfile apply -f helmfile.d' }],
  async run({ terminal, flags, connect }) {
    await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      await using cluster = await connect();
      const outcomes = await applyReleases(helmfile, releaseContext(terminal, cluster), {
        ...workOptions(flags, cluster),
        onDifferences: (differences) => terminal.out(differencesText(terminal, differences)),
      });
      terminal.out(outcomesText(outcomes));
    });
  },
});
