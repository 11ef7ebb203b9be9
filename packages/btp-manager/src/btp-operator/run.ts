import type { AppliedMemo, MemberWatch, Membership } from '@slipway/manifests';
import type { ReconcileContext } from '@slipway/runtime';

import type { BtpOperator } from '../api.ts';
import type { ManagerMetrics } from '../metrics.ts';
import type { ModuleLoader } from '../resources/load.ts';
import type { Images } from '../resources/prepare.ts';
import type { Settings } from '../settings/settings.ts';
import type { Redaction } from './redaction.ts';

/** What all reconciliations of one process share. Losing it costs requests, never a wrong result. */
export interface Workshop {
  /** Defaults and flags; the ConfigMap comes on top for each reconciliation. */
  readonly baseSettings: Settings;
  /** The settings as last read: which Secret to watch is one of them. */
  lastSettings: Settings;
  readonly images: Images;
  /** Which BtpOperator counts: the one with the fixed name, or the oldest. */
  readonly singleton: 'fixed' | 'oldest';
  readonly loader: ModuleLoader;
  readonly memo: AppliedMemo;
  readonly membership: Membership;
  readonly members: MemberWatch;
}

/** One reconciliation of one BtpOperator: the object as last read or written, and what the steps share. */
export interface BtpRun {
  readonly context: ReconcileContext;
  readonly workshop: Workshop;
  readonly settings: Settings;
  readonly metrics: ManagerMetrics;
  /** Keeps credentials out of whatever is said about this run. */
  readonly redaction: Redaction;
  /** Replaced by every status write. */
  btp: BtpOperator;
}
