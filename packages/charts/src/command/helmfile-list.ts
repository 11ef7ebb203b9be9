import { defineCommand, outputFlag } from '@slipway/kube';

import { helmfileFlags, loadFromFlags } from './helmfile-flags.ts';
import { helmfilesOwnBuilding } from './helmfile-own-flags.ts';
import { explained } from './release-flags.ts';
import { rowsText } from './rows-text.ts';

/** `slipway helmfile list`. */
export const helmfileListCommand = defineCommand({
  flags: {
    ...helmfileFlags,
    output: outputFlag,
  },
  knownElsewhere: helmfilesOwnBuilding,
  examples: [{ line: 'slipway helmfile list -f helmfile.d -l app=core --output json' }],
  async run({ terminal, flags }) {
    await using helmfile = await explained(async () => await loadFromFlags(terminal, flags));
    const rows = helmfile.listReleases().map((release) => ({ ...release }));
    const headings = ['NAME', 'NAMESPACE', 'ENABLED', 'INSTALLED', 'LABELS', 'CHART', 'VERSION'];
    terminal.out(rowsText(rows, headings, flags.output));
  },
});
