import { defineCommand } from '@slipway/kube';

import { diffCommand } from './diff.ts';
import { initCommand } from './init.ts';
import { validateCommand } from './validate.ts';

/** `slipway platform`. */
export const command = defineCommand({
  subcommands: {
    diff: { summary: 'show what applying a values repository would change on the cluster', command: diffCommand },
    init: { summary: 'make a platform of your own from the reference platform', command: initCommand },
    validate: { summary: 'check a values repository, without a cluster and without its key', command: validateCommand },
  },
  examples: [{ line: 'slipway platform validate .', comment: 'for the check of a pull request' }],
});
