import { ConfigMap, type ObjectKey } from '@slipway/kube';
import {
  ChannelSource,
  controller,
  requeueAfter,
  type Controller,
  type EventSource,
  type ReconcileContext,
  type Requeue,
} from '@slipway/runtime';

import { AplOperator } from './gitops/apl-operator.ts';
import { GitRepository } from './gitops/git-repository.ts';
import type { GitCredentials } from './git/credentials.ts';
import type { GitRunner } from './git/git-process.ts';
import { OpenConnections } from './git/open-connections.ts';
import { remoteHeads, type GitRemote, type RemoteHeads } from './git/remote-head.ts';
import { WorkingCopy } from './git/working-copy.ts';
import { reconcileInstall, retryAfterMs } from './install/installer.ts';
import { setEnvAndCreateSecrets } from './install/set-env-and-create-secrets.ts';
import { names } from './names.ts';
import type { Helmfile } from './platform/helmfile.ts';
import type { Platform } from './platform/platform.ts';
import { platformMemory, type PlatformMemory } from './platform/platform-memory.ts';
import type { RuntimeUpgrade } from './platform/runtime-upgrade.ts';
import type { PlatformSettings } from './settings.ts';
import { installationState } from './state/installation-status.ts';
import type { ValuesLayers } from './values/layers.ts';
import type { PlatformRoot } from './values/platform-root.ts';

export interface AppPlatformOptions {
  readonly settings: PlatformSettings;
  readonly root: PlatformRoot;
  /** Made for every round: it acts with the client of the round. */
  readonly helmfile: (context: ReconcileContext, layers: ValuesLayers) => Helmfile;
  readonly upgrades?: readonly RuntimeUpgrade[];
  /** What else wakes it. Default: nothing. */
  readonly sources?: readonly EventSource[];
  /** How branches are asked for. Default: from the server, without a process. */
  readonly heads?: (remote: GitRemote) => RemoteHeads;
  /** How git is run. Default: as a process. */
  readonly git?: GitRunner;
}

const operatorEmail = 'pipeline@cluster.local';
const phases = { installation: 'installation', poll: 'poll', reconcile: 'reconcile' } as const;

/**
 * The platform as a controller whose keys are the loops: the installation until it is done, then polling and reconciling for ever.
 * The queue runs each loop once at a time and starts the pause after the work; a lease of its own keeps other replicas out.
 */
export function appPlatformController(options: AppPlatformOptions): Controller & { readonly poll: () => void } {
  const { settings } = options;
  const wake = new ChannelSource('platform');
  const connections = new OpenConnections();
  const memory = platformMemory(options.root, settings.envDir);
  let attempt = 0;
  let operator: AplOperator | undefined;
  const key = (name: string): ObjectKey => ({ namespace: names.operatorNamespace, name });
  wake.push(key(phases.installation));

  const rounds: Readonly<Record<string, (platform: Platform) => Promise<Requeue | undefined>>> = {
    async [phases.installation](platform) {
      // Without initial values there is nothing to install, and a cluster that is no platform is left as it is.
      if (settings.valuesInput === undefined && (await installationState(platform.client)) !== 'completed') {
        platform.log.info('no platform is installed, and VALUES_INPUT names no values to install one from');
        return requeueAfter(settings.minTimeoutMs);
      }
      attempt += 1;
      if (!(await reconcileInstall(platform, attempt))) return requeueAfter(retryAfterMs);
      const credentials = await setEnvAndCreateSecrets(platform);
      const heads = (options.heads ?? headsWithin(settings))({ url: settings.repoUrl, credentials });
      await connections.keep(heads);
      const started = new AplOperator(new GitRepository(platform.repository(credentials), heads));
      await started.start(platform);
      operator = started;
      wake.push(key(phases.reconcile));
      wake.push(key(phases.poll));
      return undefined;
    },
    async [phases.poll](platform) {
      await surviving(platform, 'Error during git polling cycle', () => operator!.pollAndApplyGitChanges(platform));
      return requeueAfter(settings.pollIntervalMs);
    },
    async [phases.reconcile](platform) {
      await surviving(platform, 'Error during reconcile cycle', () => operator!.reconcile(platform));
      return requeueAfter(settings.reconcileIntervalMs);
    },
  };

  const declared = controller({
    name: 'app-platform',
    for: ConfigMap,
    scope: { namespaces: [names.operatorNamespace] },
    // Its own records: nobody waits for their changes.
    predicates: [() => false],
    resyncMs: 0,
    concurrency: 2,
    // Two processes must never apply at once, whether or not the manager elects a leader: each would take the other's unfinished
    // releases for abandoned ones.
    lease: names.lease,
    sources: [wake, connections, ...(options.sources ?? [])],
    async reconcile(context, { name }) {
      const round = rounds[name];
      if (!round || (name !== phases.installation && !operator)) return undefined;
      return await connections.during(() => round(platformOf(context, options, memory)));
    },
  });
  return { ...declared, poll: () => operator && wake.push(key(phases.poll)) };
}

/** A server that does not answer is waited for as long as git would wait. */
function headsWithin({ gitTimeoutMs }: PlatformSettings): (remote: GitRemote) => RemoteHeads {
  return (remote) => remoteHeads(remote, { timeoutMs: gitTimeoutMs });
}

/** A loop never ends: what failed is logged, and the next round comes all the same. */
async function surviving({ log, signal }: Platform, failure: string, round: () => Promise<void>): Promise<void> {
  try {
    await round();
  } catch (error) {
    signal.throwIfAborted();
    log.error(failure, { error });
  }
}

const copies = new WeakMap<AppPlatformOptions, Map<string, WorkingCopy>>();

function platformOf(context: ReconcileContext, options: AppPlatformOptions, memory: PlatformMemory): Platform {
  const { settings, root } = options;
  return {
    ...memory,
    settings,
    root,
    directory: settings.envDir,
    helmfile: options.helmfile(context, memory.layers),
    upgrades: options.upgrades ?? [],
    repository: (credentials) => workingCopy(options, credentials),
    client: context.client,
    clock: context.clock,
    random: context.random,
    log: context.log,
    signal: context.signal,
  };
}

/** One for each password: who uses the folder waits for whoever does already. */
function workingCopy(options: AppPlatformOptions, credentials: GitCredentials): WorkingCopy {
  const { settings } = options;
  const known = copies.get(options) ?? new Map<string, WorkingCopy>();
  copies.set(options, known);
  const id = `${credentials.username}:${credentials.password}`;
  const copy =
    known.get(id) ??
    new WorkingCopy({
      directory: settings.envDir,
      remote: { url: settings.repoUrl, credentials },
      branch: settings.branch,
      identity: { name: credentials.username, email: operatorEmail },
      timeoutMs: settings.gitTimeoutMs,
      ...(options.git ? { run: options.git } : {}),
    });
  known.set(id, copy);
  return copy;
}
