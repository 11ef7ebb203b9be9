import { kindOf, type Kind, type KubeObject, type Static } from '@slipway/kube';

import type { ApplicationSource, ApplicationSpec, Operation } from './application-spec.ts';

/** An Argo CD Application, as far as we look into it. Its kind has no status subresource: whoever writes it writes all of it. */
export interface Application extends KubeObject {
  /** As its author wrote it: nothing holds it to a schema, see `readSpec`. */
  spec?: unknown;
  /** Asks for a synchronization now; taken away when it begins. */
  operation?: unknown;
  status?: ApplicationStatus;
}

export const Application: Kind<Application> = kindOf(
  'argoproj.io',
  'v1alpha1',
  'Application',
  'applications',
  'Namespaced',
);

export type Spec = Static<typeof ApplicationSpec>;
export type Source = Static<typeof ApplicationSource>;
export type AskedOperation = Static<typeof Operation>;

export type SyncCode = 'Synced' | 'OutOfSync' | 'Unknown';
/** From best to worst, as Argo CD orders them. */
export const healthCodes = ['Healthy', 'Suspended', 'Progressing', 'Missing', 'Degraded', 'Unknown'] as const;
export type HealthCode = (typeof healthCodes)[number];
export type OperationPhase = 'Running' | 'Terminating' | 'Succeeded' | 'Failed' | 'Error';
/** Moments of a synchronization. */
export type SyncHook = 'PreSync' | 'Sync' | 'PostSync' | 'SyncFail';
/** Moments of the deletion of an Application. */
export type DeletionHook = 'PreDelete' | 'PostDelete';
export type HookType = SyncHook | DeletionHook;

export interface ApplicationStatus {
  sourceType?: string;
  sourceTypes?: string[];
  sync?: SyncStatus;
  health?: { status: HealthCode; message?: string; lastTransitionTime?: string };
  resources?: ResourceStatus[];
  summary?: { images?: string[] };
  conditions?: ApplicationCondition[];
  operationState?: OperationState;
  history?: HistoryEntry[];
  reconciledAt?: string;
}

export interface SyncStatus {
  status: SyncCode;
  revision?: string;
  revisions?: string[];
  comparedTo?: { source?: Source; sources?: Source[]; destination: unknown };
}

export interface ResourceStatus {
  group?: string;
  version?: string;
  kind: string;
  namespace?: string;
  name: string;
  status?: SyncCode;
  health?: { status: HealthCode; message?: string };
  hook?: boolean;
  requiresPruning?: boolean;
  syncWave?: number;
}

export interface ApplicationCondition {
  type:
    | 'InvalidSpecError'
    | 'ComparisonError'
    | 'SyncError'
    | 'SharedResourceWarning'
    | 'ExcludedResourceWarning'
    | 'DeletionError';
  message: string;
  lastTransitionTime?: string;
}

/** Argo CD may have written it, and left out what it did not know yet. */
export interface OperationState {
  phase: OperationPhase;
  message?: string;
  startedAt: string;
  finishedAt?: string;
  retryCount?: number;
  operation: {
    initiatedBy?: { automated?: boolean; username?: string };
    sync?: { revision?: string; revisions?: string[]; prune?: boolean; syncOptions?: string[] };
    retry?: { limit: number };
    /** `slipway-id` tells this operation from all others: the hooks it makes carry it. */
    info?: { name: string; value: string }[];
  };
  syncResult?: SyncResult;
}

export interface SyncResult {
  revision?: string;
  revisions?: string[];
  source?: Source;
  sources?: Source[];
  resources?: ResourceResult[];
}

export interface ResourceResult {
  group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  status?: 'Synced' | 'SyncFailed' | 'Pruned' | 'PruneSkipped';
  message?: string;
  hookType?: HookType;
  hookPhase?: OperationPhase;
  syncPhase: HookType;
}

export interface HistoryEntry {
  id: number;
  revision?: string;
  revisions?: string[];
  source?: Source;
  sources?: Source[];
  deployStartedAt: string;
  deployedAt: string;
  initiatedBy: { automated?: boolean; username?: string };
}
