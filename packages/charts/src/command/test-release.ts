import { CommandError, defineCommand, exitCodes } from '@slipway/kube/command';

import type { ReleaseHook } from '../release/release.ts';
import { testRelease } from '../release/test-release.ts';
import { recordedArguments } from './recorded-release.ts';
import { explained, namespaceFlag, releaseContext } from './release-flags.ts';
import { releaseText } from './release-text.ts';

/** `slipway chart test`. */
export const testCommand = defineCommand({
  connection: true,
  arguments: recordedArguments,
  flags: {
    ...namespaceFlag,
    timeout: { type: 'duration', summary: 'how long each test may take; 5m by default' },
    filter: {
      type: 'string',
      repeated: true,
      value: 'name=test',
      summary: 'only the test of this name, or with !name=test all others',
      perCall: true,
    },
  },
  knownElsewhere: { '--logs': 'kubectl logs NAME prints what the pod of a test said' },
  examples: [{ line: 'slipway chart test shop' }],
  async run({ terminal, args, flags, connect }) {
    const isWanted = readFilter(flags.filter);
    await using cluster = await connect();
    await explained(async () => {
      const { release, failure } = await testRelease(releaseContext(terminal, cluster), {
        name: args[0]!,
        namespace: flags.namespace ?? cluster.namespace,
        timeoutMs: flags.timeout,
        isWanted,
      });
      terminal.out(releaseText(release, { hideNotes: true }));
      if (failure) throw failure;
    });
  },
});

/** `name=a,!name=b`, repeated. */
function readFilter(texts: readonly string[]): (hook: ReleaseHook) => boolean {
  const wanted = new Set<string>();
  const unwanted = new Set<string>();
  for (const text of texts.flatMap((each) => each.split(','))) {
    const [, not, name] = /^(!\s?)?name=(.+)$/.exec(text) ?? [];
    if (name === undefined)
      throw new CommandError(`--filter: '${text}' is neither name=TEST nor !name=TEST`, { exitCode: exitCodes.usage });
    (not === undefined ? wanted : unwanted).add(name);
  }
  return ({ name }) => !unwanted.has(name) && (wanted.size === 0 || wanted.has(name));
}
