import { defineCommand } from '@slipway/kube/command';

import { destroyReleases } from '../helmfile/sync.ts';
import { loadFromFlags } from './helmfile-flags.ts';
import { helmfileWorkFlags, outcomesText, workOptions } from './helmfile-work-flags.ts';
import { explained, releaseContext } from './release-flags.ts';

/** `slipway helmfile destroy`. */
export const helmfileDestroyCommand = defineCommand({
  connection: true,
  flags: helmfileWorkFlags,
  examples: [{ line: 'slipway helmfile destroy -l name=shop' }],
  async run({ terminal, flags, connect }) {
    await explained(async () => {
      await using helmfile = await loadFromFlags(terminal, flags);
      await using cluster = await connect();
      const context = releaseContext(terminal, cluster);
      const { needs, ...options } = workOptions(flags, cluster);
      // What the removed releases need may stay, unless somebody asks for it to go too.
      const outcomes = await destroyReleases(helmfile, context, needs === 'include' ? { ...options, needs } : options);
      terminal.out(outcomesText(outcomes));
    });
  },
});
