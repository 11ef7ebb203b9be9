import { defineCommand, outputFlag } from '@slipway/kube';

import type { Release } from '../release/release.ts';
import { ReleaseStorage } from '../release/storage.ts';
import { explained, namespaceFlag } from './release-flags.ts';
import { chartText, rowsText } from './release-text.ts';

/** `slipway chart list`. */
export const listCommand = defineCommand({
  connection: true,
  flags: {
    ...namespaceFlag,
    'all-namespaces': { type: 'boolean', short: 'A', summary: 'releases of all namespaces' },
    output: outputFlag,
  },
  examples: [{ line: 'slipway chart list -A' }],
  async run({ terminal, flags, connect }) {
    await using cluster = await connect();
    const namespace = flags['all-namespaces'] ? undefined : (flags.namespace ?? cluster.namespace);
    const storage = new ReleaseStorage(cluster.client, () => terminal.clock.now());
    const releases = newest((await explained(async () => await storage.all(namespace))).map(({ release }) => release));
    const rows = releases.map((release) => ({
      name: release.name,
      namespace: release.namespace,
      revision: String(release.revision),
      updated: release.lastDeployed,
      status: release.status,
      chart: chartText(release),
      app_version: String(release.chart.metadata.appVersion ?? ''),
    }));
    terminal.out(
      rowsText(rows, ['NAME', 'NAMESPACE', 'REVISION', 'UPDATED', 'STATUS', 'CHART', 'APP VERSION'], flags.output),
    );
  },
});

function newest(releases: readonly Release[]): Release[] {
  const latest = new Map<string, Release>();
  for (const release of releases) {
    const key = `${release.namespace}/${release.name}`;
    const known = latest.get(key);
    if (known === undefined || known.revision < release.revision) latest.set(key, release);
  }
  return [...latest.values()].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : a.namespace < b.namespace ? -1 : 1,
  );
}
