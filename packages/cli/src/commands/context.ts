import type { OperatorDescription, OperatorSettings } from '@slipway/runtime';

import type { Setting } from '../settings.ts';
import type { Terminal } from '../terminal.ts';

/** What every command gets. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly operators: readonly OperatorDescription[];
  readonly version: string;
}

/** What commands that run operators get besides. */
export interface OperatorChoice {
  readonly operators: readonly OperatorDescription[];
  /** They were named; otherwise they are all there are. */
  readonly named: boolean;
  /** The operators' own flags. */
  readonly settings: OperatorSettings;
  /** Everything in force, for `--verbose`. */
  readonly inForce: readonly Setting[];
}

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml' | 'name';
