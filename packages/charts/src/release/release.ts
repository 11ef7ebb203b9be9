import type { HookEvent } from '../render/manifests.ts';

/** Where a release stands, in Helm's words. */
export type ReleaseStatus =
  | 'unknown'
  | 'deployed'
  | 'uninstalled'
  | 'superseded'
  | 'failed'
  | 'uninstalling'
  | 'pending-install'
  | 'pending-upgrade'
  | 'pending-rollback';

/** How its objects were written: by server-side apply, or as Helm 3 did. */
export type ApplyMethod = 'ssa' | 'csa';

/** A hook as a record has it, and how it ran last. */
export interface ReleaseHook {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly manifest: string;
  readonly events: readonly HookEvent[];
  readonly weight: number;
  readonly deletePolicies: readonly string[];
  /** When the helm command shows what the hook printed. */
  readonly outputLogPolicies?: readonly string[];
  readonly lastRun?: {
    readonly startedAt: string;
    readonly completedAt: string;
    readonly phase: 'Running' | 'Succeeded' | 'Failed' | 'Unknown' | '';
  };
}

/** One revision of a release, as it is stored. */
export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  readonly status: ReleaseStatus;
  readonly description: string;
  readonly notes: string;
  /** RFC 3339. */
  readonly firstDeployed: string;
  readonly lastDeployed: string;
  /** When it was uninstalled, RFC 3339. */
  readonly deleted?: string;
  /** The revision it went back to. */
  readonly rollbackRevision?: number;
  /** The user's values. */
  readonly config: Readonly<Record<string, unknown>>;
  /** All objects, as Helm joins them. */
  readonly manifest: string;
  readonly hooks: readonly ReleaseHook[];
  /** The chart as the record has it; kept whole, whatever it holds. */
  readonly chart: RecordedChart;
  readonly applyMethod: ApplyMethod;
  /** Labels of the user. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The chart inside a record. */
export interface RecordedChart {
  readonly metadata: {
    readonly name: string;
    readonly version: string;
    readonly appVersion?: string;
    readonly [field: string]: unknown;
  };
  readonly values?: Readonly<Record<string, unknown>> | null;
  readonly [field: string]: unknown;
}

export function isPending(status: ReleaseStatus): boolean {
  return status.startsWith('pending-') || status === 'uninstalling';
}
