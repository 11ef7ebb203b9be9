import { defineCommand } from '@slipway/kube/command';

import { upgradeRelease } from '../release/upgrade.ts';
import { applyOptions } from './install.ts';
import { chartFlags, readChart, releaseArguments } from './chart-flags.ts';
import { lastValuesFlags, valuesFrom } from './last-values-flags.ts';
import { helmsOwnApplying } from './helm-flags.ts';
import { applyFlags, explained, releaseContext } from './release-flags.ts';
import { releaseText } from './release-text.ts';
import { valueFlags } from './value-flags.ts';

/** `slipway chart upgrade`. */
export const upgradeCommand = defineCommand({
  connection: true,
  arguments: releaseArguments,
  flags: {
    ...valueFlags,
    ...chartFlags,
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
      return await upgradeRelease(releaseContext(terminal, cluster), chart, {
        name,
        namespace: flags.namespace ?? cluster.namespace,
        values,
        ...applyOptions(flags),
        install: flags.install,
        valuesFrom: valuesFrom(flags),
        historyMax: flags['history-max'],
        cleanupOnFail: flags['cleanup-on-fail'],
      });
    });
    const headline = release.revision === 1 ? '' : `Release "${name}" has been upgraded.`;
    terminal.out(releaseText(release, headline, flags.output));
  },
});
