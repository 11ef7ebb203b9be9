import type { Client } from '@slipway/kube';
import { membershipOf, type AppliedMemo, type Membership, type MemberWatch } from '@slipway/manifests';
import type { ReconcileContext } from '@slipway/runtime';

import type { Application, Source } from '../argo/application.ts';
import type { ReadSpec } from './read-spec.ts';
import type { SourceStore } from './source/git-sources.ts';
import type { RenderedSources } from './source/rendered-sources.ts';

export interface SyncSettings {
  /** How often Git is asked for new commits, in milliseconds. */
  readonly refreshMs: number;
  /** The values repository: its server is known by credentials of the platform's own. */
  readonly repoUrl: string;
}

/** What a process remembers between passes. Losing it costs a few reads. */
export interface SyncMemory {
  readonly sources: SourceStore;
  readonly rendered: RenderedSources;
  readonly memo: AppliedMemo;
  readonly watch: MemberWatch;
}

/** One pass over one Application. */
export interface SyncRun {
  readonly context: ReconcileContext;
  readonly client: Client;
  readonly settings: SyncSettings;
  readonly memory: SyncMemory;
  /** As it is after the last write of this pass. */
  application: Application;
  readonly name: string;
  readonly membership: Membership;
}

/** The one Argo CD writes with: when it comes or goes, the fields keep their owner. */
export const fieldManager = 'argocd-controller';

export function applicationMembership({ metadata }: Application): Membership {
  return membershipOf(`Application.argoproj.io/${metadata.namespace}/${metadata.name}`);
}

/** What a pass aims at: these sources in these commits. */
export interface Aim {
  readonly spec: ReadSpec;
  /** Without the values in them, which may be secret: with their fingerprint. */
  readonly sources: readonly Source[];
  readonly commits: readonly string[];
}
