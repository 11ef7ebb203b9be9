import { resolve } from 'node:path';
import { CommandError, toCustomResourceDefinition, writeCrds, yamlStream } from '@slipway/kube';

import { makeFolder, reason } from '../make-folder.ts';
import { slipwayCommand } from '../slipway-command.ts';

/** `slipway crds`: the definitions of the chosen operators as YAML, or as files. */
export const command = slipwayCommand({
  takesOperators: true,
  flags: { write: { type: 'string', value: 'dir', summary: 'write one file each instead', perCall: true } },
  examples: [{ line: 'slipway crds | kubectl apply -f -' }, { line: 'slipway crds operand --write ./crds' }],
  async run({ terminal, choice, flags: { write } }) {
    const kinds = (await choice()).operators.flatMap((operator) => operator.kinds);
    if (write === undefined) {
      terminal.out(yamlStream(kinds.map(toCustomResourceDefinition)));
      return;
    }
    const folder = resolve(terminal.cwd, write);
    const hint = 'choose another folder with --write DIR';
    await makeFolder(folder, hint);
    const files = await writeCrds(folder, kinds).catch((error: unknown) => {
      throw new CommandError(`cannot write to ${folder}: ${reason(error)}`, { hint, cause: error });
    });
    for (const file of files) terminal.out(`${file}\n`);
  },
});
