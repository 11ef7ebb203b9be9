import { refText } from '@slipway/manifests';

import { shownSource } from './aim.ts';
import { placeObjects } from './place-objects.ts';
import type { ReadSpec } from './read-spec.ts';
import { renderSources, type SourceType } from './render-sources.ts';
import type { Aim, SyncRun } from './run.ts';
import { SourceError } from './source/source-error.ts';
import { isDeletionHook, isSyncHook, targetOf, type Target } from './target.ts';

/** What the sources want, and which commits said so. */
export interface Targets {
  readonly aim: Aim;
  /** Of each source. */
  readonly sourceTypes: readonly SourceType[];
  /** What is to be there. */
  readonly objects: readonly Target[];
  /** What is to run. Each attempt gives them its mark, see `namedHooks`. */
  readonly hooks: readonly Target[];
  /** What is to run when the Application is deleted. */
  readonly deletionHooks: readonly Target[];
}

/** What the sources of an Application want: each object where it belongs, and what it is for. */
export async function readTargets(run: SyncRun, spec: ReadSpec): Promise<Targets> {
  const { objects, commits, types } = await renderSources(run, spec);
  const placed = await placeObjects(objects, spec.namespace, run.client, run.context.signal);
  const targets = placed.flatMap((object) => targetOf(object, run.name, spec.options) ?? []);
  const plain = targets.filter(({ hooks }) => hooks.length === 0);
  refuseDuplicates(plain);
  return {
    aim: { spec, sources: spec.allSources.map(shownSource), commits },
    sourceTypes: types,
    objects: plain,
    hooks: targets.filter(isSyncHook),
    deletionHooks: targets.filter(isDeletionHook),
  };
}

function refuseDuplicates(targets: readonly Target[]): void {
  const seen = new Set<string>();
  for (const { key, ref, object } of targets) {
    if (!object.metadata.name)
      throw new SourceError('InvalidSource', `${ref.kind}: generateName is for hooks; give it a name`);
    if (seen.has(key)) throw new SourceError('InvalidSource', `${refText(ref)} is there twice; remove one`);
    seen.add(key);
  }
}
