import { mergeMaps } from '../chart/merge-maps.ts';
import { diffManifests, type ObjectDifference } from '../diff/manifest-diff.ts';
import { fromPlain, type GoMap } from '../go/values.ts';
import { Operation, type ReleaseContext } from '../release/operation.ts';
import { prepareRelease } from '../release/prepare.ts';
import type { Release, ReleaseHook } from '../release/release.ts';
import type { Helmfile } from './helmfile.ts';
import type { HelmfileRelease } from './release.ts';
import { workThrough } from './sync.ts';
import { HelmfileWork, type HelmfileWorkOptions, type ReleaseOutcome } from './work.ts';

export interface ReleaseDifference {
  readonly release: HelmfileRelease;
  readonly action: 'install' | 'upgrade' | 'uninstall' | 'none';
  readonly objects: readonly ObjectDifference[];
}

/** What `sync` would change: each release rendered against the cluster, beside what is recorded of it. Writes nothing. */
export async function diffReleases(
  helmfile: Helmfile,
  context: ReleaseContext,
  options: HelmfileWorkOptions = {},
): Promise<ReleaseDifference[]> {
  const work = new HelmfileWork(helmfile, context, options);
  const differences: ReleaseDifference[] = [];
  for (const release of helmfile.plan(options.needs)) differences.push(await differenceOf(work, release));
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
  const unchanged = differences.filter(({ release }) => !changed.has(release) && release.installed);
  return [...outcomes, ...unchanged.map(({ release }): ReleaseOutcome => ({ release, action: 'unchanged' }))];
}

async function differenceOf(work: HelmfileWork, release: HelmfileRelease): Promise<ReleaseDifference> {
  const namespace = work.namespaceOf(release);
  const options = work.upgradeOptions(release);
  const values = work.helmfile.chartValuesOf(release);
  const operation = new Operation(work.context, options.timeoutMs ?? 0);
  const history = (await operation.storage.history(namespace, release.name)).map((stored) => stored.release);
  const last = history.at(-1);
  const base = history.findLast(({ status }) => status === 'deployed') ?? last;
  const present = base && last!.status !== 'uninstalled' ? base : undefined;
  if (!release.installed) {
    const objects = present ? diffManifests(comparable(present), '', namespace) : [];
    return { release, action: present ? 'uninstall' : 'none', objects };
  }
  const { release: next } = await prepareRelease(operation, {
    chart: await work.helmfile.chartOf(release),
    name: release.name,
    namespace,
    values: present && options.valuesFrom === 'reuse' ? mergeMaps(fromPlain(present.config) as GoMap, values) : values,
    revision: (last?.revision ?? 0) + 1,
    isUpgrade: present !== undefined,
    labels: {},
    skipSchemaValidation: options.skipSchemaValidation ?? false,
  });
  const objects = diffManifests(present ? comparable(present) : '', comparable(next), namespace);
  if (!present) return { release, action: 'install', objects };
  // A release that failed is tried again even when nothing changed since.
  const settled = last!.status === 'deployed';
  return { release, action: objects.length === 0 && settled ? 'none' : 'upgrade', objects };
}

/** Objects and hooks; tests run only when somebody asks for them. */
function comparable({ manifest, hooks }: Release): string {
  const counts = ({ events }: ReleaseHook) => !events.every((event) => event === 'test');
  return [manifest, ...hooks.filter(counts).map((hook) => `---\n${hook.manifest}\n`)].join('\n');
}
