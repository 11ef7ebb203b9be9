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

/** The order of `sync`, for the releases that are wanted. */
export async function workThrough(
  work: HelmfileWork,
  wanted: (release: HelmfileRelease) => boolean,
): Promise<ReleaseOutcome[]> {
  const outcomes: ReleaseOutcome[] = [];
  for (const { releases, all } of work.helmfile.states) {
    const enabled = releases.filter((release) => release.enabled);
    const batches = planBatches(enabled, all, work.options.needs);
    const those = (test: (release: HelmfileRelease) => boolean) =>
      batches.map((batch) => batch.filter((release) => wanted(release) && test(release)));
    outcomes.push(
      ...(await work.each(
        those(({ installed }) => !installed).reverse(),
        async (release) => await work.uninstall(release),
      )),
      ...(await work.each(
        those(({ installed }) => installed),
        async (release) => await work.upgrade(release),
      )),
    );
  }
  return outcomes;
}

/** Removes every release, in the opposite order. One that is not there is passed over. */
export async function destroyReleases(
  helmfile: Helmfile,
  context: ReleaseContext,
  options: HelmfileWorkOptions = {},
): Promise<ReleaseOutcome[]> {
  const work = new HelmfileWork(helmfile, context, options);
  const outcomes: ReleaseOutcome[] = [];
  for (const { releases, all } of helmfile.states.toReversed()) {
    const enabled = releases.filter((release) => release.enabled);
    const batches = planBatches(enabled, all, options.needs ?? 'skip').map((batch) => batch.toReversed());
    outcomes.push(...(await work.each(batches.reverse(), async (release) => await work.uninstall(release))));
  }
  return outcomes;
}
