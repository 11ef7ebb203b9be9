import { defineCommand } from '@slipway/kube/command';

import { describe, rotate } from '../sops-file.ts';
import { configuredIndent } from './config-flag.ts';
import { explained, fileArgument, fileFlags, identitiesFor, readSealedFile, writeResult } from './sealed-file.ts';

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
    const file = await readSealedFile(terminal, args[0]!, flags);
    const format = file.format.name;
    const result = await explained(file.name, async () => {
      const present = describe(file.content, format).age.map((key) => key.recipient);
      const added = flags['add-age'].flatMap(listed);
      const gone = flags['rm-age'].flatMap(listed);
      const unknown = gone.filter((recipient) => !present.includes(recipient));
      for (const recipient of unknown) terminal.err(`${file.name} was not for ${recipient}\n`);
      const recipients = [...present, ...added].filter((recipient) => !gone.includes(recipient));
      const identities = await identitiesFor(terminal, file);
      const indent = await configuredIndent(terminal, format);
      return await rotate(file.content, { format, identities, indent, recipients, clock: terminal.clock });
    });
    await writeResult(terminal, file, result, flags);
  },
});

/** As sops takes them: separated by commas. */
function listed(text: string): string[] {
  return text
    .split(',')
    .map((recipient) => recipient.trim())
    .filter(Boolean);
}
