import { HelmfileError } from './helmfile-error.ts';
import { releaseId, type HelmfileRelease } from './release.ts';

/** What to do about a release that others need and that the selectors did not take. */
export type NeedsPolicy = 'require' | 'include' | 'skip';

/**
 * Puts releases of one state in the order in which they are worked on: what others need comes first, else they stay as the
 * state has them. No release needs another of its own batch. `all` are those the selectors passed over, too.
 */
export function planBatches(
  taken: readonly HelmfileRelease[],
  all: readonly HelmfileRelease[],
  needs: NeedsPolicy = 'require',
): HelmfileRelease[][] {
  const known = new Map(all.map((release) => [releaseId(release), release]));
  const wanted = new Set(taken);
  for (const release of taken) {
    for (const need of release.needs) {
      const needed = known.get(need);
      if (!needed) throw undefinedNeed(release, need);
      if (wanted.has(needed) || needs === 'skip') continue;
      if (needs === 'include') wanted.add(needed);
      else throw unselectedNeed(release, need);
    }
  }
  return inBatches([...known.values()].filter((release) => wanted.has(release)));
}

function inBatches(releases: readonly HelmfileRelease[]): HelmfileRelease[][] {
  const left = new Map(releases.map((release) => [releaseId(release), release]));
  const batches: HelmfileRelease[][] = [];
  while (left.size > 0) {
    const ready = [...left.values()].filter(({ needs }) => !needs.some((need) => left.has(need)));
    if (ready.length === 0)
      throw new HelmfileError(
        'Circular',
        `${[...left.values()][0]!.state.file}: releases need each other: ${[...left.keys()].join(', ')}`,
      );
    for (const release of ready) left.delete(releaseId(release));
    batches.push(ready);
  }
  return batches;
}

function undefinedNeed({ name, state }: HelmfileRelease, need: string): HelmfileError {
  return new HelmfileError('InvalidState', `${state.file}: release "${name}" needs "${need}", which is not defined`, {
    hint: 'a need is name, or namespace/name for a release of another namespace, in the same state',
  });
}

function unselectedNeed({ name, state }: HelmfileRelease, need: string): HelmfileError {
  return new HelmfileError(
    'InvalidSelector',
    `${state.file}: release "${name}" needs "${need}", which the selectors do not take`,
    { hint: 'select it too, or say --include-needs or --skip-needs' },
  );
}
