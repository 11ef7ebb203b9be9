import { CommandError, type ConnectedCluster, defineCommand } from '@slipway/kube/command';

import { planInstallation, renderInstallation } from '../release/dry-run.ts';
import { installRelease } from '../release/install.ts';
import { appliedText } from './applied-text.ts';
import { applyOptions } from './apply-options.ts';
import { chartArgument, chartFlags, dependencyFlag, readChart } from './chart-flags.ts';
import { helmsOwnApplying } from './helm-flags.ts';
import { localTimeZone } from './local-time-zone.ts';
import { applyFlags, explained, releaseContext } from './release-flags.ts';
import { nameAndChart } from './release-name.ts';
import { valueFlags } from './value-flags.ts';

/** `slipway chart install`. */
export const installCommand = defineCommand({
  connection: true,
  arguments: [
    { name: 'name-or-chart', summary: 'name of the release; may be left out with --generate-name', required: true },
    { name: 'chart', summary: chartArgument },
  ],
  flags: {
    ...valueFlags,
    ...chartFlags,
    ...dependencyFlag,
    ...applyFlags,
    'generate-name': { type: 'boolean', short: 'g', summary: 'name it after its chart and the time', perCall: true },
    'name-template': { type: 'string', value: 'template', summary: 'a template that makes the name', perCall: true },
    replace: { type: 'boolean', summary: 'use the name of a release that failed or was uninstalled' },
  },
  knownElsewhere: helmsOwnApplying,
  examples: [
    { line: 'slipway chart install shop ./charts/web -f prod.yaml --wait' },
    { line: 'slipway chart install shop ./charts/web --dry-run=server' },
  ],
  async run({ terminal, args, flags, connect }) {
    const release = await explained(async () => {
      const { name, chart: path } = nameAndChart(args, flags, () => terminal.clock.now());
      const { chart, values } = await readChart(path, flags, terminal);
      const given = { name, values, ...applyOptions(flags), replace: flags.replace };
      if (flags['dry-run'] === 'client') {
        const namespace = flags.namespace ?? (await namespaceOfContext(connect));
        const context = { clock: terminal.clock, timeZone: localTimeZone(terminal.env) };
        return await renderInstallation(context, chart, { ...given, namespace });
      }
      await using cluster = await connect();
      const options = { ...given, namespace: flags.namespace ?? cluster.namespace };
      const context = releaseContext(terminal, cluster);
      return await (flags['dry-run'] === 'server' ? planInstallation : installRelease)(context, chart, options);
    });
    terminal.out(appliedText(release, flags));
  },
});

/** What needs no cluster does not fail because there is none. */
async function namespaceOfContext(connect: () => Promise<ConnectedCluster>): Promise<string> {
  try {
    await using cluster = await connect();
    return cluster.namespace;
  } catch (error) {
    if (error instanceof CommandError) return 'default';
    throw error;
  }
}
