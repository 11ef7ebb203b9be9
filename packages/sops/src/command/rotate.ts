import { defineCommand } from '@slipway/kube/command';

import { findAgeIdentities } from '../keys/key-lookup.ts';
import { describe, rotate } from '../sops-file.ts';
import { explained, fileArgument, fileFlags, readSealedFile, writeResult } from './sealed-file.ts';

/** `slipway sops rotate`. */
export const rotateCommand = defineCommand({
  arguments: fileArgument,
  flags: {
    ...fileFlags,
    'add-age': {
      type: 'string',
      value: 'recipient',
      summary: 'also for this recipient',
      repeated: true,
      perCall: true,
    },
    'rm-age': {
      type: 'string',
      value: 'recipient',
      summary: 'no longer for this recipient',
      repeated: true,
      perCall: true,
    },
  },
  examples: [{ line: 'slipway sops rotate -i env/secrets.yaml --rm-age age1…', comment: 'after somebody left' }],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0]!, flags['input-type']);
    const result = await explained(file.name, async () => {
      const present = describe(file.content, file.format.name).age.map((key) => key.recipient);
      const recipients = [...present, ...flags['add-age']].filter((recipient) => !flags['rm-age'].includes(recipient));
      const identities = await findAgeIdentities({ env: terminal.env });
      return await rotate(file.content, { format: file.format.name, identities, recipients, clock: terminal.clock });
    });
    await writeResult(terminal, file, result, flags);
  },
});
