import { defineCommand } from '@slipway/kube/command';

import { uninstallRelease } from '../release/uninstall.ts';
import { helmsOwnApplying } from './helm-flags.ts';
import { explained, releaseContext, workFlags } from './release-flags.ts';

/** `slipway chart uninstall`. */
export const uninstallCommand = defineCommand({
  connection: true,
  arguments: [{ name: 'name', summary: 'names of the releases', required: true, repeated: true }],
  flags: {
    ...workFlags,
    wait: { type: 'boolean', summary: 'wait until the objects are gone' },
    'keep-history': { type: 'boolean', summary: 'keep the records' },
    'ignore-not-found': { type: 'boolean', summary: 'a release that is not there is no error' },
    description: { type: 'string', value: 'text', summary: 'a text for the history', perCall: true },
  },
  knownElsewhere: helmsOwnApplying,
  examples: [{ line: 'slipway chart uninstall shop --wait' }],
  async run({ terminal, args, flags, connect }) {
    await explained(async () => {
      await using cluster = await connect();
      for (const name of args) {
        const done = await uninstallRelease(releaseContext(terminal, cluster), {
          name,
          namespace: flags.namespace ?? cluster.namespace,
          wait: flags.wait,
          timeoutMs: flags.timeout,
          skipHooks: flags['no-hooks'],
          keepHistory: flags['keep-history'],
          ignoreNotFound: flags['ignore-not-found'],
          description: flags.description,
        });
        if (done === undefined) continue;
        if (done.kept.length > 0)
          terminal.out(`These resources were kept due to the resource policy:\n${done.kept.join('\n')}\n\n`);
        if (done.foreign.length > 0)
          terminal.out(
            `${done.foreign.length} resource(s) were not deleted because they are not owned by this release:\n${done.foreign.join('\n')}\n\n`,
          );
        terminal.out(`release "${name}" uninstalled\n`);
      }
    });
  },
});
