import { defineCommand } from '@slipway/kube/command';

import { SopsError } from '../sops-error.ts';
import { unsetValue } from '../sops-file.ts';
import { parseTreePath } from '../tree-path.ts';
import { configuredIndent } from './config-flag.ts';
import { explained, identitiesFor, inputTypeFlag, readSealedFile, writeBack } from './sealed-file.ts';

/** `slipway sops unset`. */
export const unsetCommand = defineCommand({
  arguments: [
    { name: 'file', summary: 'the file', required: true },
    { name: 'path', summary: `what, such as '["users"][0]["name"]'`, required: true },
  ],
  flags: {
    ...inputTypeFlag,
    idempotent: { type: 'boolean', summary: 'what is not there need not be taken out', perCall: true },
  },
  examples: [{ line: `slipway sops unset env/secrets.yaml '["db"]["password"]'` }],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0]!, flags);
    const result = await explained(file.name, async () => {
      const identities = await identitiesFor(terminal, file);
      const indent = await configuredIndent(terminal, file.format.name);
      const options = { format: file.format.name, identities, indent, clock: terminal.clock };
      return await unsetValue(file.content, parseTreePath(args[1]!), options).catch((error: unknown) => {
        if (flags.idempotent && error instanceof SopsError && error.code === 'not-found') return file.content;
        throw error;
      });
    });
    await writeBack(terminal, file, result);
  },
});
