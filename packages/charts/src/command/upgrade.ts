import { defineCommand } from '@slipway/kube/command';

import { dryRunDescription, planUpgrade } from '../release/dry-run.ts';
import type { Release } from '../release/release.ts';
import { upgradeRelease } from '../release/upgrade.ts';
import { appliedText } from './applied-text.ts';
import { applyOptions } from './apply-options.ts';
import { chartFlags, dependencyFlag, readChart, releaseArguments } from './chart-flags.ts';
import { helmsOwnApplying } from './helm-flags.ts';
import { lastValuesFlags, valuesFrom } from './last-values-flags.ts';
import { applyFlags, explained, releaseContext } from './release-flags.ts';
import { valueFlags } from './value-flags.ts';

/** `slipway chart upgrade`. */
export const upgradeCommand = defineCommand({
  connection: true,
  arguments: releaseArguments,
  flags: {
    ...valueFlags,
    ...chartFlags,
    ...dependencyFlag,
    ...applyFlags,
    install: { type: 'boolean', short: 'i', summary: 'install it when there is no such release' },
    ...lastValuesFlags,
    'history-max': { type: 'integer', least: 0, summary: 'revisions to keep, 0 for all', default: 10 },
    'cleanup-on-fail': { type: 'boolean', summary: 'remove objects this upgrade made when it fails' },
  },
  knownElsewhere: helmsOwnApplying,
  examples: [
    { line: 'slipway chart upgrade shop ./charts/web --reuse-values --set replicas=3' },
    { line: 'slipway chart upgrade --install shop ./charts/web --rollback-on-failure' },
  ],
  async run({ terminal, args, flags, connect }) {
    const [name, path] = args as [string, string];
    const release = await explained(async () => {
      const { chart, values } = await readChart(path, flags, terminal);
      await using cluster = await connect();
      const context = releaseContext(terminal, cluster);
      const options = {
        name,
        namespace: flags.namespace ?? cluster.namespace,
        values,
        ...applyOptions(flags),
        install: flags.install,
        valuesFrom: valuesFrom(flags),
        historyMax: flags['history-max'],
        cleanupOnFail: flags['cleanup-on-fail'],
      };
      if (flags['dry-run'] === 'none') return await upgradeRelease(context, chart, options);
      return await planUpgrade(context, chart, { ...options, looksUp: flags['dry-run'] === 'server' });
    });
    terminal.out(`${flags.output === 'table' ? headline(release) : ''}${appliedText(release, flags)}`);
  },
});

function headline({ name, description, firstDeployed, lastDeployed }: Release): string {
  if (firstDeployed === lastDeployed) return `Release "${name}" does not exist. Installing it now.\n`;
  return description === dryRunDescription ? '' : `Release "${name}" has been upgraded.\n`;
}
