import { type CommandContext, defineCommand } from '@slipway/kube/command';

import type { Release } from '../release/release.ts';
import { readRecorded, recordedArguments, recordedFlags, recordFormatFlag } from './recorded-release.ts';
import { releaseMetadata, releaseMetadataText } from './release-metadata.ts';
import { computedValues, hooksText, recordText, releaseText, suppliedValues, valuesText } from './release-text.ts';

const valuesCommand = defineCommand({
  connection: true,
  arguments: recordedArguments,
  flags: {
    ...recordedFlags,
    ...recordFormatFlag,
    all: { type: 'boolean', short: 'a', summary: "the chart's defaults, too", perCall: true },
  },
  examples: [
    { line: 'slipway chart get values shop' },
    { line: 'slipway chart get values shop --all -o json', comment: 'with the defaults of the chart' },
  ],
  async run(context) {
    const { all, output } = context.flags;
    const release = await readRecorded(context);
    const values = all ? computedValues(release) : suppliedValues(release);
    const headline = all ? 'COMPUTED VALUES:\n' : 'USER-SUPPLIED VALUES:\n';
    context.terminal.out(output === 'table' ? headline + valuesText(values, 'yaml') : valuesText(values, output));
  },
});

const metadataCommand = defineCommand({
  connection: true,
  arguments: recordedArguments,
  flags: { ...recordedFlags, ...recordFormatFlag },
  examples: [{ line: 'slipway chart get metadata shop -o json' }],
  async run(context) {
    const { output } = context.flags;
    const release = await readRecorded(context);
    context.terminal.out(
      output === 'table' ? releaseMetadataText(release) : recordText(releaseMetadata(release), output),
    );
  },
});

/** A command that prints a part of a record as it is. */
function partCommand(part: string, textOf: (release: Release) => string) {
  return defineCommand({
    connection: true,
    arguments: recordedArguments,
    flags: recordedFlags,
    examples: [{ line: `slipway chart get ${part} shop` }],
    async run(context: CommandContext<typeof recordedFlags>) {
      context.terminal.out(textOf(await readRecorded(context)));
    },
  });
}

/** `slipway chart get`. */
export const getCommand = defineCommand({
  subcommands: {
    values: { summary: 'print the values of a release', command: valuesCommand },
    manifest: {
      summary: 'print the objects of a release as they were rendered',
      command: partCommand('manifest', ({ manifest }) => `${manifest}\n`),
    },
    hooks: { summary: 'print the hooks of a release', command: partCommand('hooks', hooksText) },
    notes: {
      summary: 'print the notes of a release',
      command: partCommand('notes', ({ notes }) => (notes === '' ? '' : `NOTES:\n${notes}\n`)),
    },
    metadata: { summary: 'print what a release is and where it comes from', command: metadataCommand },
    all: {
      summary: 'print all of it',
      command: partCommand('all', (release) => releaseText(release, { chart: true, everything: true })),
    },
  },
  examples: [{ line: 'slipway chart get values shop --revision 2' }],
});
