import { defineCommand } from '@slipway/kube/command';

import { liveObjects, liveTables } from '../release/live-objects.ts';
import { recordedRevision } from '../release/recorded-revision.ts';
import { ReleaseStorage } from '../release/storage.ts';
import { recordedArguments, recordedFlags, recordFormatFlag } from './recorded-release.ts';
import { explained } from './release-flags.ts';
import { recordText, releaseText, statusRecord } from './release-text.ts';

/** `slipway chart status`. */
export const statusCommand = defineCommand({
  connection: true,
  arguments: recordedArguments,
  flags: { ...recordedFlags, ...recordFormatFlag },
  examples: [{ line: 'slipway chart status shop' }],
  async run({ terminal, args, flags, connect }) {
    await using cluster = await connect();
    const { client } = cluster;
    const storage = new ReleaseStorage(client, () => terminal.clock.now());
    const namespace = flags.namespace ?? cluster.namespace;
    await explained(async () => {
      const release = await recordedRevision(storage, { name: args[0]!, namespace, revision: flags.revision });
      if (flags.output === 'table')
        terminal.out(releaseText(release, { resources: await liveTables(client, release) }));
      else terminal.out(recordText(statusRecord(release, await liveObjects(client, release)), flags.output));
    });
  },
});
