import type { CommandContext } from '@slipway/kube/command';

import { recordedRevision } from '../release/recorded-revision.ts';
import type { Release } from '../release/release.ts';
import { ReleaseStorage } from '../release/storage.ts';
import { explained, namespaceFlag } from './release-flags.ts';

/** The release a command reads. */
export const recordedArguments = [{ name: 'name', summary: 'name of the release', required: true }] as const;

export const recordedFlags = {
  ...namespaceFlag,
  revision: {
    type: 'integer',
    least: 0,
    value: 'number',
    summary: 'revision of the release; else the last',
    perCall: true,
  },
} as const;

/** `-o` of commands that print something that is no list. */
export const recordFormatFlag = {
  output: {
    type: 'string',
    short: 'o',
    value: 'format',
    summary: 'output format',
    choices: ['table', 'json', 'yaml'],
    default: 'table',
  },
} as const;

/** What is recorded of the release a command names. */
export async function readRecorded({
  terminal,
  args,
  flags,
  connect,
}: CommandContext<typeof recordedFlags>): Promise<Release> {
  await using cluster = await connect();
  const storage = new ReleaseStorage(cluster.client, () => terminal.clock.now());
  const namespace = flags.namespace ?? cluster.namespace;
  return await explained(
    async () => await recordedRevision(storage, { name: args[0]!, namespace, revision: flags.revision }),
  );
}
