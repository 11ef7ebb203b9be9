import { CommandError, defineCommand } from '@slipway/kube/command';

import { diffUpgrade } from '../release/difference.ts';
import { changedExitCode, changeText, exitCodeFlag } from './change-text.ts';
import { chartFlags, readChart, releaseArguments } from './chart-flags.ts';
import { lastValuesFlags, valuesFrom } from './last-values-flags.ts';
import { helmsOwnApplying } from './helm-flags.ts';
import { explained, namespaceFlag, releaseContext } from './release-flags.ts';
import { valueFlags } from './value-flags.ts';

/** `slipway chart diff`: what `slipway chart upgrade` would change. */
export const diffCommand = defineCommand({
  connection: true,
  arguments: releaseArguments,
  flags: {
    ...valueFlags,
    ...chartFlags,
    ...namespaceFlag,
    ...lastValuesFlags,
    ...exitCodeFlag,
    install: {
      type: 'boolean',
      short: 'i',
      summary: 'show what installing it would make when there is no such release',
    },
    'no-hooks': { type: 'boolean', summary: 'leave out hooks' },
    'skip-schema-validation': { type: 'boolean', summary: 'do not check values against values.schema.json' },
  },
  knownElsewhere: helmsOwnApplying,
  examples: [
    { line: 'slipway chart diff shop ./charts/web --reuse-values --set replicas=3' },
    { line: 'slipway chart diff shop oci://registry.example.com/charts/web --detailed-exitcode' },
  ],
  async run({ terminal, args, flags, connect }) {
    const [name, path] = args as [string, string];
    return await explained(async () => {
      const { chart, values } = await readChart(path, flags, terminal);
      await using cluster = await connect();
      const namespace = flags.namespace ?? cluster.namespace;
      const change = await diffUpgrade(releaseContext(terminal, cluster), chart, {
        name,
        namespace,
        values,
        valuesFrom: valuesFrom(flags),
        skipHooks: flags['no-hooks'],
        skipSchemaValidation: flags['skip-schema-validation'],
      });
      if (change.action === 'install' && !flags.install)
        throw new CommandError(`release ${name} in namespace ${namespace} has no deployed releases`, {
          hint: 'say --install to see what installing it would make',
        });
      if (change.action === 'none') return 0;
      terminal.out(changeText(terminal, `${namespace}/${name}`, change));
      return flags['detailed-exitcode'] ? changedExitCode : 0;
    });
  },
});
