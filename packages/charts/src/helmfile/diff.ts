import { diffUninstall, diffUpgrade, type ReleaseChange } from '../release/difference.ts';
import type { ReleaseContext } from '../release/operation.ts';
import type { Helmfile } from './helmfile.ts';
import { naming } from './named-failure.ts';
import type { HelmfileRelease } from './release.ts';
import { workThrough } from './sync.ts';
import { HelmfileWork, type HelmfileWorkOptions, type ReleaseOutcome } from './work.ts';

/** What would change in a release of a helmfile. */
export interface ReleaseDifference extends ReleaseChange {
  readonly release: HelmfileRelease;
}

/** What `sync` would change: each release rendered against the cluster, beside what is recorded of it. Writes nothing. */
export async function diffReleases(
  helmfile: Helmfile,
  context: ReleaseContext,
  options: HelmfileWorkOptions = {},
): Promise<ReleaseDifference[]> {
  const work = new HelmfileWork(helmfile, context, options);
  const differences: ReleaseDifference[] = [];
  for (const release of helmfile.plan(options.needs)) {
    work.unlessInterrupted();
    differences.push(await naming(release, async () => await differenceOf(work, release)));
  }
  return differences;
}

/** `sync`, but only for releases that `diff` finds changed. */
export async function applyReleases(
  helmfile: Helmfile,
  context: ReleaseContext,
  options: HelmfileWorkOptions & {
    /** Told what is about to change, before anything does. */
    readonly onDifferences?: (differences: readonly ReleaseDifference[]) => void;
  } = {},
): Promise<ReleaseOutcome[]> {
  const differences = await diffReleases(helmfile, context, options);
  options.onDifferences?.(differences);
  const changed = new Set(differences.filter(({ action }) => action !== 'none').map(({ release }) => release));
  const outcomes = await workThrough(new HelmfileWork(helmfile, context, options), (release) => changed.has(release));
  const unchanged = differences
    .filter(({ release }) => !changed.has(release) && release.installed)
    .map(({ release }): ReleaseOutcome => ({ release, action: 'unchanged' }));
  for (const outcome of unchanged) options.onOutcome?.(outcome);
  return [...outcomes, ...unchanged];
}

async function differenceOf(work: HelmfileWork, release: HelmfileRelease): Promise<ReleaseDifference> {
  const options = work.upgradeOptions(release);
  const change = release.installed
    ? await diffUpgrade(work.context, await work.helmfile.chartOf(release), options)
    : await diffUninstall(work.context, options);
  return { release, ...change };
}
