import { defineCommand } from '@slipway/kube/command';

import { findAgeIdentities } from '../keys/key-lookup.ts';
import { decrypt } from '../sops-file.ts';
import { explained, fileArgument, fileFlags, readSealedFile, writeResult } from './sealed-file.ts';

/** `slipway sops decrypt`. */
export const decryptCommand = defineCommand({
  arguments: fileArgument,
  flags: fileFlags,
  examples: [
    { line: 'slipway sops decrypt env/secrets.yaml' },
    { line: 'SOPS_AGE_KEY_FILE=key.txt slipway sops decrypt -o photo.jpg photo.jpg.enc' },
  ],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0]!, flags['input-type']);
    const result = await explained(file.name, async () => {
      const identities = await findAgeIdentities({ env: terminal.env });
      return await decrypt(file.content, { format: file.format.name, identities });
    });
    await writeResult(terminal, file, result, flags);
  },
});
