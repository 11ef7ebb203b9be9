import { defineCommand } from '@slipway/kube/command';

import { creationRuleFor, findConfigFile } from '../config-file.ts';
import { encrypt } from '../sops-file.ts';
import { explained, fileArgument, fileFlags, readSealedFile, writeResult } from './sealed-file.ts';

/** `slipway sops encrypt`. */
export const encryptCommand = defineCommand({
  arguments: fileArgument,
  flags: {
    ...fileFlags,
    age: {
      type: 'string',
      value: 'recipients',
      summary: 'age recipients, separated by commas; else SOPS_AGE_RECIPIENTS or .sops.yaml',
    },
    config: {
      type: 'string',
      value: 'file',
      summary: 'configuration file; else SOPS_CONFIG or the nearest .sops.yaml',
      perCall: true,
    },
    'encrypted-regex': {
      type: 'string',
      value: 'regex',
      summary: 'encrypt only what is under keys that match',
      perCall: true,
    },
    'unencrypted-regex': {
      type: 'string',
      value: 'regex',
      summary: 'leave clear what is under keys that match',
      perCall: true,
    },
  },
  knownElsewhere: {
    '--kms': 'only age keys can be used, with --age',
    '--gcp-kms': 'only age keys can be used, with --age',
    '--azure-kv': 'only age keys can be used, with --age',
    '--hc-vault-transit': 'only age keys can be used, with --age',
    '--pgp': 'only age keys can be used, with --age',
  },
  examples: [
    { line: 'slipway sops encrypt -i env/secrets.yaml', comment: 'by the rules of .sops.yaml' },
    { line: 'slipway sops encrypt --age age1… secret.json > secret.enc.json' },
  ],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0]!, flags['input-type']);
    const result = await explained(file.name, async () => {
      const named = flags.age ?? terminal.env['SOPS_AGE_RECIPIENTS'];
      const config = flags.config ?? terminal.env['SOPS_CONFIG'] ?? (await findConfigFile(file.path));
      // Recipients on the command line make a creation rule unnecessary, not wrong.
      const found = config === undefined || named !== undefined ? undefined : await creationRuleFor(file.path, config);
      const typed = { encryptedRegex: flags['encrypted-regex'], unencryptedRegex: flags['unencrypted-regex'] };
      return await encrypt(file.content, {
        format: file.format.name,
        recipients: named?.split(',').map((recipient) => recipient.trim()) ?? found?.recipients ?? [],
        rule: Object.values(typed).some(Boolean) ? typed : found?.rule,
        macOnlyEncrypted: found?.macOnlyEncrypted,
        clock: terminal.clock,
      });
    });
    await writeResult(terminal, file, result, flags);
  },
});
