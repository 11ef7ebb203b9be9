import type { Chart } from '../chart/chart.ts';
import { diffManifests, type ObjectDifference } from '../diff/manifest-diff.ts';
import { baseOf } from './history.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import { prepareRelease } from './prepare.ts';
import type { Release, ReleaseHook } from './release.ts';
import { upgradeInput } from './upgrade-input.ts';
import type { UpgradeOptions } from './upgrade.ts';

/** What work on a release would change. */
export interface ReleaseChange {
  readonly action: 'install' | 'upgrade' | 'uninstall' | 'none';
  readonly objects: readonly ObjectDifference[];
}

/** Of which release, and with which values. */
export type DifferenceOptions = Pick<
  UpgradeOptions,
  'name' | 'namespace' | 'values' | 'valuesFrom' | 'skipHooks' | 'skipSchemaValidation'
>;

/** What an upgrade (or an installation) would change: the chart rendered against the cluster, beside what is recorded. Writes nothing. */
export async function diffUpgrade(
  context: ReleaseContext,
  chart: Chart,
  options: DifferenceOptions,
): Promise<ReleaseChange> {
  const { name, namespace, skipHooks = false } = options;
  const operation = new Operation(context, 0);
  const { present, last } = await recorded(operation, options);
  const input = present ? upgradeInput(present, chart, options) : { chart, values: options.values ?? {} };
  const { release: next } = await prepareRelease(operation, {
    ...input,
    name,
    namespace,
    revision: (last?.revision ?? 0) + 1,
    isUpgrade: present !== undefined,
    labels: {},
    skipSchemaValidation: options.skipSchemaValidation ?? false,
  });
  const before = present ? comparable(present, skipHooks) : '';
  const objects = diffManifests(before, comparable(next, skipHooks), namespace);
  if (!present) return { action: 'install', objects };
  // A release that failed is tried again even when nothing changed since.
  const settled = last!.status === 'deployed';
  return { action: objects.length === 0 && settled ? 'none' : 'upgrade', objects };
}

/** What removing a release would take away. */
export async function diffUninstall(
  context: ReleaseContext,
  options: Pick<DifferenceOptions, 'name' | 'namespace' | 'skipHooks'>,
): Promise<ReleaseChange> {
  const { present } = await recorded(new Operation(context, 0), options);
  if (!present) return { action: 'none', objects: [] };
  const objects = diffManifests(comparable(present, options.skipHooks ?? false), '', options.namespace);
  return { action: 'uninstall', objects };
}

/** The last revision, and the one whose objects count as being there. */
async function recorded(
  { storage }: Operation,
  { name, namespace }: Pick<DifferenceOptions, 'name' | 'namespace'>,
): Promise<{ readonly present: Release | undefined; readonly last: Release | undefined }> {
  const all = (await storage.history(namespace, name)).map(({ release }) => release);
  const last = all.at(-1);
  return { last, present: last?.status === 'uninstalled' ? undefined : baseOf(all) };
}

/** Objects and hooks; tests run only when somebody asks for them. */
function comparable({ manifest, hooks }: Release, skipHooks: boolean): string {
  const counts = ({ events }: ReleaseHook) => !skipHooks && !events.every((event) => event === 'test');
  return [manifest, ...hooks.filter(counts).map((hook) => `---\n${hook.manifest}\n`)].join('\n');
}
