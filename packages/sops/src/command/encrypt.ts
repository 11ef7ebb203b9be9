import { CommandError, defineCommand } from '@slipway/kube/command';

import { formatNamed } from '../formats/format.ts';
import { ruleFields, type SelectionRule } from '../selection.ts';
import { encrypt } from '../sops-file.ts';
import { configuredIndent } from './config-flag.ts';
import { creationFlags, creationOf } from './creation.ts';
import { convertFlags, explained, fileOrInputArgument, readSealedFile, writeResult } from './sealed-file.ts';

function ruleFlag(value: 'regex' | 'suffix', summary: string) {
  return { type: 'string', value, summary, perCall: true } as const;
}

/** `slipway sops encrypt`. */
export const encryptCommand = defineCommand({
  arguments: fileOrInputArgument,
  flags: {
    ...convertFlags,
    ...creationFlags,
    'encrypted-regex': ruleFlag('regex', 'encrypt only what is under keys that match'),
    'unencrypted-regex': ruleFlag('regex', 'leave clear what is under keys that match'),
    'encrypted-suffix': ruleFlag('suffix', 'encrypt only what is under keys that end so'),
    'unencrypted-suffix': ruleFlag('suffix', 'leave clear what is under keys that end so (default: _unencrypted)'),
    'encrypted-comment-regex': ruleFlag('regex', 'encrypt only what is under comments that match'),
    'unencrypted-comment-regex': ruleFlag('regex', 'leave clear what is under comments that match'),
    'mac-only-encrypted': { type: 'boolean', summary: 'sign only what is encrypted', perCall: true },
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
    { line: 'make-secret | slipway sops encrypt --filename-override env/secrets.yaml > env/secrets.yaml' },
  ],
  async run({ terminal, args, flags }) {
    const file = await readSealedFile(terminal, args[0], flags);
    if (file.content.length === 0 && file.format.name !== 'binary') {
      throw new CommandError(`${file.name} is empty`, { hint: 'write something into it first' });
    }
    const type = flags['output-type'];
    const result = await explained(file.name, async () => {
      const creation = await creationOf(terminal, file.path, flags);
      const outputFormat = (type === undefined ? file.format : formatNamed(type)).name;
      const typed = typedRule(flags);
      return await encrypt(file.content, {
        format: file.format.name,
        outputFormat,
        indent: await configuredIndent(terminal, outputFormat, flags),
        recipients: creation.recipients,
        rule: Object.values(typed).some(Boolean) ? typed : creation.rule,
        macOnlyEncrypted: flags['mac-only-encrypted'] || creation.macOnlyEncrypted,
        clock: terminal.clock,
      });
    });
    await writeResult(terminal, file, result, flags);
  },
});

function typedRule(flags: Readonly<Record<string, unknown>>): SelectionRule {
  return Object.fromEntries(
    Object.entries(ruleFields).map(([field, name]) => [field, flags[name.replaceAll('_', '-')]]),
  ) as SelectionRule;
}
