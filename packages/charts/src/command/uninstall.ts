import { defineCommand } from '@slipway/kube/command';

import { type PlannedRemoval, planUninstallation } from '../release/dry-run.ts';
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
    'dry-run': { type: 'boolean', summary: 'remove nothing, say what would be removed', perCall: true },
    cascade: {
      type: 'string',
      value: 'how',
      summary: 'what becomes of what the objects own, such as pods',
      choices: ['background', 'orphan', 'foreground'],
      default: 'background',
    },
    'keep-history': { type: 'boolean', summary: 'keep the records' },
    'ignore-not-found': { type: 'boolean', summary: 'a release that is not there is no error' },
    description: { type: 'string', value: 'text', summary: 'a text for the history', perCall: true },
  },
  knownElsewhere: helmsOwnApplying,
  examples: [{ line: 'slipway chart uninstall shop --wait' }],
  async run({ terminal, args, flags, connect }) {
    await explained(async () => {
      await using cluster = await connect();
      const context = releaseContext(terminal, cluster);
      const namespace = flags.namespace ?? cluster.namespace;
      for (const name of args) {
        if (flags['dry-run']) {
          const planned = await planUninstallation(context, {
            name,
            namespace,
            ignoreNotFound: flags['ignore-not-found'],
          });
          if (planned !== undefined) terminal.out(plannedText(name, planned));
          continue;
        }
        const done = await uninstallRelease(context, {
          name,
          namespace,
          cascade: flags.cascade,
          wait: flags.wait,
          timeoutMs: flags.timeout,
          skipHooks: flags['no-hooks'],
          keepHistory: flags['keep-history'],
          ignoreNotFound: flags['ignore-not-found'],
          description: flags.description,
        });
        if (done === undefined) continue;
        terminal.out(`${stayingText(done)}release "${name}" uninstalled\n`);
      }
    });
  },
});

function stayingText({ kept, foreign }: Omit<PlannedRemoval, 'deleted'>): string {
  return [
    ...(kept.length > 0 ? [`These resources were kept due to the resource policy:\n${kept.join('\n')}\n\n`] : []),
    ...(foreign.length > 0
      ? [
          `${foreign.length} resource(s) were not deleted because they are not owned by this release:\n${foreign.join('\n')}\n\n`,
        ]
      : []),
  ].join('');
}

function plannedText(name: string, planned: PlannedRemoval): string {
  const gone = planned.deleted.map((object) => `${object} would be deleted\n`).join('');
  return `${stayingText(planned)}${gone}release "${name}" would be uninstalled\n`;
}
