import type { Terminal } from '@slipway/kube/command';

import { creationRuleFor } from '../config-file.ts';
import type { EncryptOptions } from '../sops-file.ts';
import { configFile, configFlag } from './config-flag.ts';

/** Flags of commands that make an encrypted file. */
export const creationFlags = {
  age: {
    type: 'string',
    short: 'a',
    value: 'recipients',
    summary: 'age recipients or public SSH keys, separated by commas; else SOPS_AGE_RECIPIENTS or .sops.yaml',
  },
  ...configFlag,
} as const;

/** For whom a new file at a path is encrypted and by which rule, as flags, environment and `.sops.yaml` say. */
export async function creationOf(
  terminal: Terminal,
  path: string,
  flags: { readonly age?: string; readonly 'sops-config'?: string },
): Promise<Pick<EncryptOptions, 'recipients' | 'rule' | 'macOnlyEncrypted'>> {
  const recipients = recipientsIn(flags.age) ?? recipientsIn(terminal.env['SOPS_AGE_RECIPIENTS']);
  const config = await configFile(terminal, flags['sops-config']);
  const found = config === undefined ? undefined : await creationRuleFor(path, config, { recipients });
  return {
    recipients: recipients ?? found?.recipients ?? [],
    rule: found?.rule,
    macOnlyEncrypted: found?.macOnlyEncrypted,
  };
}

function recipientsIn(text: string | undefined): string[] | undefined {
  const recipients = text
    ?.split(',')
    .map((recipient) => recipient.trim())
    .filter(Boolean);
  return recipients?.length ? recipients : undefined;
}
