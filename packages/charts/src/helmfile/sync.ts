import type { ReleaseContext } from '../release/operation.ts';
import type { Helmfile } from './helmfile.ts';
import { planBatches } from './plan.ts';
import type { HelmfileRelease } from './release.ts';
import { HelmfileWork, type HelmfileWorkOptions, type ReleaseOutcome } from './work.ts';

/**
 * Brings every release to what the helmfile says: those with `installed: false` are removed, all others installed or
 * upgraded, state by state, what others need first.
 */
export async function syncReleases(
  helmfile: Helmfile,
  context: ReleaseContext,
  options: HelmfileWorkOptions = {},
): Promise<ReleaseOutcome[]> {
  return await workThrough(new HelmfileWork(helmfile, context, options), () => true);
}

/** The order of `sync`, for the releases that are wanted. What fails in one state keeps the states after it from being begun. */
export async function workThrough(
  work: HelmfileWork,
  wanted: (release: HelmfileRelease) => boolean,
): Promise<ReleaseOutcome[]> {
  const states = plannedStates(work).map((batches) => batches.map((batch) => batch.filter(wanted)));
  work.plan(states.flat(2));
  await work.prepare(states.flat(2));
  for (const batches of states) {
    const those = (test: (release: HelmfileRelease) => boolean) => batches.map((batch) => batch.filter(test));
    const gone = those(({ installed }) => !installed).reverse();
    await work.each(gone, async (release) => await work.uninstall(release));
    // As in helmfile: what could not be removed keeps nothing from being installed.
    const present = those(({ installed }) => installed);
    await work.each(present, async (release) => await work.upgrade(release));
    if (work.hasStopped) break;
  }
  return [...work.finish()];
}

/** Removes every release, in the opposite order. One that is not there is passed over. */
export async function destroyReleases(
  helmfile: Helmfile,
  context: ReleaseContext,
  options: HelmfileWorkOptions = {},
): Promise<ReleaseOutcome[]> {
  const work = new HelmfileWork(helmfile, context, options);
  const states = plannedStates(work).map((batches) => batches.map((batch) => batch.toReversed()).reverse());
  work.plan(states.flat(2));
  for (const batches of states.reverse()) {
    await work.each(batches, async (release) => await work.uninstall(release));
    if (work.hasStopped) break;
  }
  return [...work.finish()];
}

/** State by state what is enabled, in batches; all of it, so that needs which cannot be met are known before anything is done. */
function plannedStates({ helmfile, options }: HelmfileWork): HelmfileRelease[][][] {
  return helmfile.states.map(({ releases, all }) =>
    planBatches(
      releases.filter(({ enabled }) => enabled),
      all,
      options.needs,
    ),
  );
}
