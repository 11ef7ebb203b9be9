import { defineCommand } from '@slipway/kube/command';

import { isEncrypted } from '../sops-file.ts';
import { explained, fileArgument, inputTypeFlag, readSealedFile } from './sealed-file.ts';

/** `slipway sops filestatus`. */
export const fileStatusCommand = defineCommand({
  arguments: fileArgument,
  flags: inputTypeFlag,
  examples: [{ line: 'slipway sops filestatus env/secrets.yaml', comment: '{"encrypted":true}' }],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0]!, flags);
    const encrypted = await explained(file.name, async () => isEncrypted(file.content, file.format.name));
    terminal.out(`${JSON.stringify({ encrypted })}\n`);
  },
});
