import type { Client, Clock } from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import type { OperatorChoice, PackageFlag } from '../slipway-command.ts';

/** One thing `slipway check` has looked at. */
export interface Finding {
  /** `problem`: it stands in the way. `note`: worth knowing. */
  readonly verdict: 'ok' | 'note' | 'problem';
  /** What was looked at, such as `CustomResourceDefinition operands.operand.run.cloud.google.com`. */
  readonly subject: string;
  /** How it is. */
  readonly message: string;
  /** What to do about it. Absent: nothing. */
  readonly next?: string;
}

/** What every look needs. */
export interface CheckRun {
  readonly client: Client;
  readonly operators: readonly OperatorDescription[];
  /** For what to do next. */
  readonly packageFlag: PackageFlag;
  readonly packageOf: OperatorChoice['packageOf'];
  /** Of this command. */
  readonly version: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}
