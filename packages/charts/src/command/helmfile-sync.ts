import { defineCommand } from '@slipway/kube/command';

import { syncReleases } from '../helmfile/sync.ts';
import { loadFromFlags } from './helmfile-flags.ts';
import { helmfilesOwnWorking } from './helmfile-own-flags.ts';
import { helmfileSyncFlags, workOptions } from './helmfile-work-flags.ts';
import { explained, releaseContext } from './release-flags.ts';

/** `slipway helmfile sync`. */
export const helmfileSyncCommand = defineCommand({
  connection: true,
  flags: helmfileSyncFlags,
  knownElsewhere: helmfilesOwnWorking,
  examples: [{ line: 'slipway helmfile sync -f helmfile.d -l stage=prep' }],
  async run({ terminal, flags, connect }) {
    await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      await using cluster = await connect();
      const context = releaseContext(terminal, cluster);
      await syncReleases(helmfile, context, workOptions(terminal, flags, cluster));
    });
  },
});
