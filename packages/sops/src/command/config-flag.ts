import { join, resolve } from 'node:path';
import type { Terminal } from '@slipway/kube/command';

import { findConfigFile } from '../config-file.ts';

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
