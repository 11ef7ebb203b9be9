import { defineCommand } from '@slipway/kube/command';

import { buildText } from '../helmfile/build.ts';
import { helmfileFlags, loadFromFlags } from './helmfile-flags.ts';
import { helmfilesOwnBuilding } from './helmfile-own-flags.ts';
import { explained } from './release-flags.ts';

/** `slipway helmfile build`. */
export const helmfileBuildCommand = defineCommand({
  flags: helmfileFlags,
  knownElsewhere: helmfilesOwnBuilding,
  examples: [{ line: 'slipway helmfile build -f helmfile.d/10-shop.yaml.gotmpl' }],
  async run({ terminal, flags }) {
    await using helmfile = await explained(async () => await loadFromFlags(terminal, flags));
    for (const { state, releases } of helmfile.states) terminal.out(buildText(state, releases));
  },
});
