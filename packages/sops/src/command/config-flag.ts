import { join, resolve } from 'node:path';
import type { Terminal } from '@slipway/kube/command';

import { findConfigFile, indentOf } from '../config-file.ts';
import type { FormatName } from '../formats/format.ts';

/** The flag of commands that follow `.sops.yaml`. */
export const configFlag = {
  // `--config` is the settings file of every command.
  'sops-config': {
    type: 'string',
    value: 'file',
    summary: 'configuration file; else SOPS_CONFIG or the nearest .sops.yaml from the current folder up',
    perCall: true,
  },
} as const;

/** The configuration file, found as sops finds it: from the current folder, wherever the file is that is worked on. */
export async function configFile(terminal: Terminal, named: string | undefined): Promise<string | undefined> {
  const file = named ?? terminal.env['SOPS_CONFIG'];
  return file ? resolve(terminal.cwd, file) : await findConfigFile(join(terminal.cwd, '.sops.yaml'));
}

/** How the configuration file wants a format indented. */
export async function configuredIndent(
  terminal: Terminal,
  format: FormatName,
  flags: { readonly 'sops-config'?: string } = {},
): Promise<number | undefined> {
  const config = await configFile(terminal, flags['sops-config']);
  return config === undefined ? undefined : await indentOf(config, format);
}
