import { CommandError, defineCommand, exitCodes } from '@slipway/kube/command';

import { planRollback } from '../release/dry-run.ts';
import { rollbackRelease } from '../release/rollback.ts';
import { helmsOwnApplying } from './helm-flags.ts';
import { dryRunFlag, explained, releaseContext, serverSideFlag, waitFlags, workFlags } from './release-flags.ts';

/** `slipway chart rollback`. */
export const rollbackCommand = defineCommand({
  connection: true,
  arguments: [
    { name: 'name', summary: 'name of the release', required: true },
    { name: 'revision', summary: 'where to; the one before by default' },
  ],
  flags: {
    ...workFlags,
    ...waitFlags,
    ...dryRunFlag,
    ...serverSideFlag,
    'force-conflicts': { type: 'boolean', summary: 'take fields over from others who wrote them' },
    'cleanup-on-fail': { type: 'boolean', summary: 'remove objects this rollback made when it fails' },
    description: { type: 'string', value: 'text', summary: 'a text for the history', perCall: true },
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
      const context = releaseContext(terminal, cluster);
      const goal = { name, namespace: flags.namespace ?? cluster.namespace, revision };
      if (flags['dry-run'] !== 'none') {
        const planned = await planRollback(context, goal);
        return terminal.out(`Release "${name}" would be rolled back to revision ${planned.revision}.\n`);
      }
      await rollbackRelease(context, {
        ...goal,
        wait: flags.wait,
        waitForJobs: flags['wait-for-jobs'],
        cleanupOnFail: flags['cleanup-on-fail'],
        description: flags.description,
        timeoutMs: flags.timeout,
        skipHooks: flags['no-hooks'],
        forceConflicts: flags['force-conflicts'],
        historyMax: flags['history-max'],
      });
      terminal.out('Rollback was a success.\n');
    });
  },
});
