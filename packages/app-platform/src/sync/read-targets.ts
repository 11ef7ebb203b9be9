import { capabilitiesOf } from '@slipway/charts';
import type { KubeObject } from '@slipway/kube';
import { refText } from '@slipway/manifests';

import { argo } from '../argo/words.ts';
import { shownSource } from './aim.ts';
import { placeObjects } from './place-objects.ts';
import type { ReadSpec } from './read-spec.ts';
import type { Aim, SyncRun } from './run.ts';
import { credentialsFor } from './source/source-credentials.ts';
import { renderSource } from './source/render-source.ts';
import { SourceError } from './source/source-error.ts';
import { isDeletionHook, isSyncHook, targetOf, type Target } from './target.ts';

/** What the sources want, and which commits said so. */
export interface Targets {
  readonly aim: Aim;
  /** Of each source. */
  readonly sourceTypes: readonly ('Helm' | 'Directory')[];
  /** What is to be there. */
  readonly objects: readonly Target[];
  /** What is to run. Each attempt gives them its mark, see `namedHooks`. */
  readonly hooks: readonly Target[];
  /** What is to run when the Application is deleted. */
  readonly deletionHooks: readonly Target[];
}

/** Fetches the sources of an Application and renders them. */
export async function readTargets(run: SyncRun, spec: ReadSpec): Promise<Targets> {
  const { context, client, memory, settings, name, application } = run;
  const { signal } = context;
  const commits: string[] = [];
  const objects: KubeObject[] = [];
  const sourceTypes: ('Helm' | 'Directory')[] = [];
  const release = { name, namespace: spec.namespace };
  const capabilities = await capabilitiesOf(client);
  const isFresh = application.metadata.annotations?.[argo.refresh] === 'hard';
  for (const source of spec.allSources) {
    const { repoURL, targetRevision = '' } = source;
    const credentials = () => credentialsFor(client, repoURL, settings.repoUrl, signal);
    const revision = await memory.sources.resolve(repoURL, targetRevision, credentials, signal);
    const { commit } = revision;
    const rendered = await memory.rendered.of({ commit, source, release, capabilities }, isFresh, () =>
      memory.sources.use(repoURL, revision, credentials, signal, (directory) =>
        renderSource(directory, source, { release, capabilities, cache: memory.rendered.charts }),
      ),
    );
    commits.push(commit);
    objects.push(...rendered.objects);
    sourceTypes.push(rendered.type);
  }
  const placed = await placeObjects(objects, spec.namespace, client, signal);
  const targets = placed.flatMap((object) => targetOf(object, name, spec.options) ?? []);
  const plain = targets.filter(({ hooks }) => hooks.length === 0);
  refuseDuplicates(plain);
  return {
    aim: { spec, sources: spec.allSources.map(shownSource), commits },
    sourceTypes,
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
