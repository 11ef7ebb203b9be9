import type { OperatorDescription } from '@slipway/runtime';

import type { Terminal } from '../terminal.ts';

/** What every command gets. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly operators: readonly OperatorDescription[];
  readonly version: string;
}

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml' | 'name';
