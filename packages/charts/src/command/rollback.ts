import { CommandError, defineCommand, exitCodes } from '@slipway/kube/command';

import { rollbackRelease } from '../release/rollback.ts';
import { helmsOwnApplying } from './helm-flags.ts';
import { explained, releaseContext, workFlags } from './release-flags.ts';

/** `slipway chart rollback`. */
export const rollbackCommand = defineCommand({
  connection: true,
  arguments: [
    { name: 'name', summary: 'name of the release', required: true },
    { name: 'revision', summary: 'where to; the one before by default' },
  ],
  flags: {
    ...workFlags,
    wait: { type: 'boolean', summary: 'wait until everything is ready' },
    'force-conflicts': { type: 'boolean', summary: 'take fields over from others who wrote them' },
    'history-max': { type: 'integer', least: 0, summary: 'revisions to keep, 0 for all', default: 10 },
  },
  knownElsewhere: helmsOwnApplying,
  examples: [{ line: 'slipway chart rollback shop 2' }],
  async run({ terminal, args, flags, connect }) {
    const [name, text] = args as [string, string | undefined];
    const revision = text === undefined ? undefined : Number(text);
    if (revision !== undefined && !(Number.isInteger(revision) && revision >= 0)) {
      throw new CommandError(`'${text}' is no revision`, {
        hint: 'slipway chart history lists them',
        exitCode: exitCodes.usage,
      });
    }
    await explained(async () => {
      await using cluster = await connect();
      await rollbackRelease(releaseContext(terminal, cluster), {
        name,
        namespace: flags.namespace ?? cluster.namespace,
        revision,
        wait: flags.wait,
        timeoutMs: flags.timeout,
        skipHooks: flags['no-hooks'],
        forceConflicts: flags['force-conflicts'],
        historyMax: flags['history-max'],
      });
    });
    terminal.out('Rollback was a success.\n');
  },
});
