import { defineCommand, outputFlag } from '@slipway/kube';

import { noRelease } from '../release/missing.ts';
import { ReleaseStorage } from '../release/storage.ts';
import { ansiLayout, recordedTimeText } from './recorded-time.ts';
import { explained, namespaceFlag } from './release-flags.ts';
import { chartText } from './release-text.ts';
import { rowsText } from './rows-text.ts';

/** `slipway chart history`. */
export const historyCommand = defineCommand({
  connection: true,
  arguments: [{ name: 'name', summary: 'name of the release', required: true }],
  flags: {
    ...namespaceFlag,
    max: { type: 'integer', least: 1, summary: 'how many revisions, the latest', default: 256, perCall: true },
    'show-rollback-revision': { type: 'boolean', summary: 'a column for what a rollback went back to', perCall: true },
    output: outputFlag,
  },
  examples: [{ line: 'slipway chart history shop' }],
  async run({ terminal, args, flags, connect }) {
    const name = args[0]!;
    await using cluster = await connect();
    const namespace = flags.namespace ?? cluster.namespace;
    const storage = new ReleaseStorage(cluster.client, () => terminal.clock.now());
    const stored = await explained(async () => {
      const all = await storage.history(namespace, name);
      if (all.length === 0) throw noRelease({ name, namespace });
      return all;
    });
    const isRecord = flags.output === 'json' || flags.output === 'yaml';
    const rows = stored.slice(-flags.max).map(({ release }) => ({
      revision: release.revision,
      updated: isRecord ? release.lastDeployed : recordedTimeText(release.lastDeployed, ansiLayout),
      status: release.status,
      chart: chartText(release),
      app_version: String(release.chart.metadata.appVersion ?? ''),
      ...rollbackColumn(release.rollbackRevision, isRecord ? 'record' : flags['show-rollback-revision'] && 'table'),
      description: release.description,
    }));
    const headings = [
      'REVISION',
      'UPDATED',
      'STATUS',
      'CHART',
      'APP VERSION',
      ...(flags['show-rollback-revision'] ? ['ROLLBACK'] : []),
      'DESCRIPTION',
    ];
    terminal.out(rowsText(rows, headings, flags.output));
  },
});

/** A record has it where there is something to say, a table for every row or for none. */
function rollbackColumn(revision: number | undefined, where: 'record' | 'table' | false): object {
  if (where === false || (where === 'record' && revision === undefined)) return {};
  return { rollback_revision: where === 'record' ? revision : (revision ?? '') };
}
