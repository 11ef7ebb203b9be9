import type { Client, Clock, Random } from '@slipway/kube';
import type { AppliedMemo } from '@slipway/manifests';
import type { Logger } from '@slipway/runtime';

import type { WorkingCopy } from '../git/working-copy.ts';
import type { GitCredentials } from '../git/credentials.ts';
import type { OpenedSecrets } from '../secrets/opened-secrets.ts';
import type { PlatformSettings } from '../settings.ts';
import type { ValuesLayers } from '../values/layers.ts';
import type { PlatformRoot } from '../values/platform-root.ts';
import type { Helmfile } from './helmfile.ts';
import type { ReadManifests } from './read-manifests.ts';
import type { RuntimeUpgrade } from './runtime-upgrade.ts';

/** What every step of the platform works with. */
export interface Platform {
  readonly settings: PlatformSettings;
  readonly root: PlatformRoot;
  /** The working copy of the values repository. */
  readonly directory: string;
  readonly layers: ValuesLayers;
  readonly helmfile: Helmfile;
  readonly upgrades: readonly RuntimeUpgrade[];
  /** Age identities that open the secret files; the installation adds the one it makes. */
  readonly keys: Set<string>;
  /** What those opened before. */
  readonly opened: OpenedSecrets;
  /** What the cluster was brought to before. */
  readonly applied: AppliedMemo;
  /** Essential manifests as they were read before. */
  readonly manifests: ReadManifests;
  /** The repository as somebody. */
  repository(credentials: GitCredentials): WorkingCopy;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
}
