import { Namespace } from '@slipway/kube';

import { askedWords, completionScript, shells, type AskedWords, type Shell } from '../completion.ts';
import { readSought, soughtByWords } from '../sought-objects.ts';
import { slipwayCommand, type SlipwayContext } from '../slipway-command.ts';

/** `slipway completion`: a script that teaches a shell all commands, flags, operators, reasons, and to ask for the names it cannot know. */
export const command = slipwayCommand({
  connection: true,
  arguments: [
    {
      name: 'shell',
      summary: 'whose script; contexts, namespaces and objects print the words a script asks for',
      required: true,
      choices: [...shells, ...askedWords],
    },
  ],
  examples: [{ line: 'source <(slipway completion bash)' }, { line: 'slipway completion fish | source' }],
  async run(context) {
    const [what] = context.args;
    if (askedWords.some((each) => each === what)) {
      for (const word of await askedFor[what as AskedWords](context)) context.terminal.out(`${word}\n`);
      return;
    }
    const known = await context.operators();
    const words = {
      operator: known.map((operator) => operator.name),
      reason: [...new Set(known.flatMap((operator) => operator.reasons.map((row) => row.reason)))],
      shell: shells,
    };
    context.terminal.out(completionScript(await context.program(), what as Shell, words));
  },
});

const askedFor: Readonly<Record<AskedWords, (context: SlipwayContext) => Promise<readonly string[]>>> = {
  contexts: ({ contexts }) => contexts(),

  async namespaces({ connect, terminal }) {
    await using cluster = await connect();
    const found = await Array.fromAsync(cluster.client.list(Namespace, { signal: terminal.signal }));
    return found.map(({ metadata }) => metadata.name!);
  },

  async objects({ connect, operators, terminal }) {
    const all = await operators();
    // An object an operator keeps its state in is found by the operator's name.
    const sought = soughtByWords(all, []).filter(({ shown }) => shown?.name === undefined);
    const kinds = sought.map(({ kind }) => kind.plural);
    await using cluster = await connect();
    const { objects } = await readSought(cluster.client, sought, {
      namespace: cluster.namespace,
      signal: terminal.signal,
    });
    const named = objects.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`);
    return [...all.map(({ name }) => name), ...kinds, ...named];
  },
};
