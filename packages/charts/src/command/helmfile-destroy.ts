import { defineCommand } from '@slipway/kube/command';

import { destroyReleases } from '../helmfile/sync.ts';
import { loadFromFlags } from './helmfile-flags.ts';
import { helmfilesOwnWorking } from './helmfile-own-flags.ts';
import { helmfileWorkFlags, workOptions } from './helmfile-work-flags.ts';
import { explained, releaseContext } from './release-flags.ts';

/** `slipway helmfile destroy`. */
export const helmfileDestroyCommand = defineCommand({
  connection: true,
  flags: helmfileWorkFlags,
  knownElsewhere: helmfilesOwnWorking,
  examples: [{ line: 'slipway helmfile destroy -l name=shop' }],
  async run({ terminal, flags, connect }) {
    await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      await using cluster = await connect();
      const context = releaseContext(terminal, cluster);
      await destroyReleases(helmfile, context, workOptions(terminal, flags, cluster));
    });
  },
});
