import { CommandError, exitCodes, type ConnectedCluster, type FlagValues, type Terminal } from '@slipway/kube/command';

import type { ReleaseDifference } from '../helmfile/diff.ts';
import type { HelmfileRelease } from '../helmfile/release.ts';
import type { HelmfileWorkOptions, ReleaseOutcome } from '../helmfile/work.ts';
import { changeText } from './change-text.ts';
import { helmfileFlags, needsFlags, needsPolicy } from './helmfile-flags.ts';
import { waitFlags } from './release-flags.ts';

/** Flags of the commands that work on a cluster. What is not given, the helmfile says. */
export const helmfileWorkFlags = {
  ...helmfileFlags,
  ...needsFlags,
  'kube-context': {
    type: 'string',
    value: 'name',
    summary: 'kubeContext of the releases of this cluster, where no kubeconfig says its context, as in a pod',
  },
  concurrency: { type: 'integer', least: 1, summary: 'releases to work on at the same time', default: 1 },
  timeout: {
    type: 'duration',
    summary: 'how long each hook and each wait may take; else what the helmfile says, or 5m',
  },
  'no-hooks': { type: 'boolean', summary: 'run no hooks of the charts' },
} as const;

/** Flags of those that install. */
export const helmfileSyncFlags = {
  ...helmfileWorkFlags,
  'reuse-values': {
    type: 'boolean',
    summary: 'the last values of each release count, with those of the helmfile over them',
  },
  ...waitFlags,
  'skip-crds': { type: 'boolean', summary: 'leave out the files under crds/' },
} as const;

type GivenFlags = FlagValues<typeof helmfileWorkFlags> &
  Partial<Pick<FlagValues<typeof helmfileSyncFlags>, 'reuse-values' | 'wait' | 'wait-for-jobs' | 'skip-crds'>>;

/** What the flags say; what is done is printed as it is done. */
export function workOptions(terminal: Terminal, flags: GivenFlags, cluster: ConnectedCluster): HelmfileWorkOptions {
  const kubeContext = contextOf(cluster, flags['kube-context']);
  return {
    onOutcome: (outcome) => terminal.out(outcomeText(outcome)),
    needs: needsPolicy(flags),
    namespace: cluster.namespace,
    concurrency: flags.concurrency,
    ...(kubeContext === undefined ? {} : { kubeContext }),
    ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout }),
    ...(flags['no-hooks'] ? { skipHooks: true } : {}),
    ...(flags['reuse-values'] ? { reuseValues: true } : {}),
    ...(flags.wait ? { wait: true } : {}),
    ...(flags['wait-for-jobs'] ? { waitForJobs: true } : {}),
    ...(flags['skip-crds'] ? { skipCrds: true } : {}),
  };
}

/** The context whose releases are those of this cluster. With helm and helmfile the flag chooses the cluster: nobody may get another one. */
function contextOf({ context }: ConnectedCluster, given: string | undefined): string | undefined {
  if (given === undefined || context === undefined || given === context) return given ?? context;
  throw new CommandError(`--kube-context: this is the cluster of context "${context}", not of "${given}"`, {
    hint: `choose the cluster with --context ${given}`,
    exitCode: exitCodes.usage,
  });
}

/** One line for a release that was worked on. */
function outcomeText({ release, action, revision }: ReleaseOutcome): string {
  const number = revision === undefined ? '' : ` (revision ${revision})`;
  return `${action.padEnd(11)} ${placeOf(release)}${number}\n`;
}

/** The differences as a person reads them. */
export function differencesText(terminal: Terminal, differences: readonly ReleaseDifference[]): string {
  return differences
    .filter(({ action }) => action !== 'none')
    .map(({ release, ...change }) => changeText(terminal, placeOf(release), change))
    .join('\n');
}

function placeOf({ name, namespace }: HelmfileRelease): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
