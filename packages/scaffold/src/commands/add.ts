import { defineCommand, type Command } from '@slipway/kube';

import { addKind, addVersion, addWebhook } from '../project.ts';

function adding(add: (folder: string, kind: string) => Promise<string[]>, line: string): Command {
  return defineCommand({
    arguments: [{ name: 'kind', summary: 'one CamelCase word, such as BackupPlan', required: true }],
    examples: [{ line }],
    async run({ terminal, args: [kind = ''] }) {
      for (const file of await add(terminal.cwd, kind)) terminal.out(`${file}\n`);
    },
  });
}

/** `slipway add`: more kinds, webhooks and versions in the project of an operator. */
export const command = defineCommand({
  subcommands: {
    kind: {
      summary: 'another kind, with controller, test and example',
      command: adding(addKind, 'slipway add kind Boat'),
    },
    webhook: {
      summary: 'a webhook that refuses objects of a kind',
      command: adding(addWebhook, 'slipway add webhook Boat'),
    },
    version: {
      summary: 'the next version of a kind, with conversion',
      command: adding(addVersion, 'slipway add version Boat'),
    },
  },
});
