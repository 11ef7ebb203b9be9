import { CommandError, defineCommand, outputFlag } from '@slipway/kube';

import { ReleaseStorage } from '../release/storage.ts';
import { explained, namespaceFlag } from './release-flags.ts';
import { chartText, rowsText } from './release-text.ts';

/** `slipway chart history`. */
export const historyCommand = defineCommand({
  connection: true,
  arguments: [{ name: 'name', summary: 'name of the release', required: true }],
  flags: { ...namespaceFlag, output: outputFlag },
  examples: [{ line: 'slipway chart history shop' }],
  async run({ terminal, args, flags, connect }) {
    const name = args[0]!;
    await using cluster = await connect();
    const namespace = flags.namespace ?? cluster.namespace;
    const storage = new ReleaseStorage(cluster.client, () => terminal.clock.now());
    const stored = await explained(async () => await storage.history(namespace, name));
    if (stored.length === 0) {
      throw new CommandError(`there is no release ${name} in namespace ${namespace}`, {
        hint: 'slipway chart list -A shows all',
      });
    }
    const rows = stored.map(({ release }) => ({
      revision: release.revision,
      updated: release.lastDeployed,
      status: release.status,
      chart: chartText(release),
      app_version: String(release.chart.metadata.appVersion ?? ''),
      description: release.description,
    }));
    terminal.out(
      rowsText(rows, ['REVISION', 'UPDATED', 'STATUS', 'CHART', 'APP VERSION', 'DESCRIPTION'], flags.output),
    );
  },
});
