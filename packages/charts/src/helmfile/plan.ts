import { HelmfileError } from './helmfile-error.ts';
import type { HelmfileRelease } from './release.ts';

/** What to do about a release that others need and that the selectors did not take: refuse, take it too, or leave it as it is. */
export type NeedsPolicy = 'require' | 'include' | 'skip';

/**
 * Puts releases of one state in the order in which they are worked on: what others need comes first, also when what stands
 * between them is left out; else they stay as the state has them. No release needs another of its own batch. `all` are those
 * the selectors passed over, too.
 */
export function planBatches(
  taken: readonly HelmfileRelease[],
  all: readonly HelmfileRelease[],
  needs: NeedsPolicy = 'skip',
): HelmfileRelease[][] {
  if (taken.length === 0) return [];
  // Of two with one id at most one is taken, and that one counts.
  const known = new Map([...all, ...taken].map((release) => [release.id, release]));
  const batches = inBatches(known);
  const wanted = new Set(taken);
  // Whoever is included has needs of its own: they are in the batches before.
  for (const release of batches.toReversed().flat()) {
    if (!wanted.has(release) || needs === 'skip') continue;
    for (const needed of release.needs.map((need) => known.get(need)!)) {
      if (wanted.has(needed)) continue;
      if (needs === 'require') throw unselectedNeed(release, needed);
      wanted.add(needed);
    }
  }
  return batches.map((batch) => batch.filter((release) => wanted.has(release))).filter((batch) => batch.length > 0);
}

function inBatches(known: ReadonlyMap<string, HelmfileRelease>): HelmfileRelease[][] {
  for (const release of known.values()) {
    const missing = release.needs.find((need) => !known.has(need));
    if (missing !== undefined) throw undefinedNeed(release, missing);
  }
  const left = new Map(known);
  const batches: HelmfileRelease[][] = [];
  while (left.size > 0) {
    const ready = [...left.values()].filter((release) => !release.needs.some((need) => left.has(need)));
    if (ready.length === 0)
      throw new HelmfileError(
        'Circular',
        `${[...left.values()][0]!.state.file}: releases need each other: ${circleIn(left).join(' -> ')}`,
      );
    for (const release of ready) left.delete(release.id);
    batches.push(ready);
  }
  return batches;
}

/** Follows needs until one comes back; whoever only needs a member of the circle is not named. */
function circleIn(left: ReadonlyMap<string, HelmfileRelease>): string[] {
  const path: string[] = [];
  let id = [...left.keys()][0]!;
  while (!path.includes(id)) {
    path.push(id);
    id = left.get(id)!.needs.find((need) => left.has(need))!;
  }
  return [...path.slice(path.indexOf(id)), id];
}

function undefinedNeed({ name, state }: HelmfileRelease, need: string): HelmfileError {
  return new HelmfileError('InvalidState', `${state.file}: release "${name}" needs "${need}", which is not defined`, {
    hint: 'a need is name, or namespace/name for a release of another namespace, in the same state',
  });
}

function unselectedNeed({ name, state }: HelmfileRelease, { id, enabled }: HelmfileRelease): HelmfileError {
  return new HelmfileError(
    'InvalidSelector',
    `${state.file}: release "${name}" needs "${id}", which ${enabled ? 'the selectors do not take' : 'its condition disables'}`,
    { hint: `${enabled ? 'select it too' : 'enable it'}, or say --include-needs or --skip-needs` },
  );
}
