import type { Chart } from '../chart/chart.ts';
import { renderChart, type RenderedChart } from '../render/render.ts';
import { baseOf } from './history.ts';
import { neverDeployed } from './missing.ts';
import { identityOf, objectText, readObjects, recordedObjects, refuseNameless } from './objects.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import { findPresent, isKept, isOwnedBy } from './ownership.ts';
import { newRevision, type PrepareInput, prepareRelease } from './prepare.ts';
import { recordedRevision } from './recorded-revision.ts';
import type { Release } from './release.ts';
import { checkReleaseName } from './release-name.ts';
import type { InstallOptions } from './install.ts';
import type { UninstallOptions } from './uninstall.ts';
import { upgradePreparation } from './upgrade-input.ts';
import type { UpgradeOptions } from './upgrade.ts';

/** What a dry run says of itself, in Helm's words. */
export const dryRunDescription = 'Dry run complete';

interface DryRunOptions {
  /** No manifest of a Secret is in what comes back. Default false. */
  readonly hideSecret?: boolean;
}

/** The release an installation would make, without a cluster: templates see the usual capabilities and find nothing. */
export async function renderInstallation(
  { clock, timeZone }: Pick<ReleaseContext, 'clock' | 'timeZone'>,
  chart: Chart,
  options: InstallOptions & DryRunOptions,
): Promise<Release> {
  const input = installation(chart, options);
  const rendered = await renderChart(chart, {
    values: input.values,
    release: { name: input.name, namespace: input.namespace, revision: 1 },
    clock,
    timeZone,
    skipSchemaValidation: input.skipSchemaValidation,
    subNotes: input.subNotes,
  });
  return outcome(newRevision(input, rendered, new Date(clock.now()).toISOString()), rendered, options);
}

/** The release an installation would make on a cluster. Refuses what the installation would refuse, but writes nothing. */
export async function planInstallation(
  context: ReleaseContext,
  chart: Chart,
  options: InstallOptions & DryRunOptions,
): Promise<Release> {
  const operation = new Operation(context, 0);
  const { release, rendered } = await prepareRelease(operation, installation(chart, options));
  const objects = await readObjects(operation.client, release.manifest, options.namespace);
  refuseNameless(objects);
  await findPresent(operation.client, objects, release, options);
  return outcome(release, rendered, options);
}

/** The release an upgrade would make. With `looksUp` templates see objects of the cluster. Writes nothing. */
export async function planUpgrade(
  context: ReleaseContext,
  chart: Chart,
  options: UpgradeOptions & DryRunOptions & { readonly looksUp: boolean },
): Promise<Release> {
  const operation = new Operation(context, 0);
  const { name, namespace } = options;
  checkReleaseName(name);
  const history = (await operation.storage.history(namespace, name)).map(({ release }) => release);
  const last = history.at(-1);
  if (last === undefined || last.status === 'uninstalled') {
    if (options.install)
      return await (options.looksUp ? planInstallation : renderInstallation)(context, chart, options);
    throw neverDeployed(options);
  }
  const base = baseOf(history)!;
  const { release, rendered } = await prepareRelease(operation, upgradePreparation(base, last, chart, options), {
    looksUp: options.looksUp,
  });
  const before = new Set((await recordedObjects(operation.client, base, namespace)).map(identityOf));
  const objects = await readObjects(operation.client, release.manifest, namespace);
  refuseNameless(objects);
  const added = objects.filter((each) => !before.has(identityOf(each)));
  await findPresent(operation.client, added, release, options);
  return outcome(release, rendered, options);
}

/** The revision a rollback would go back to. */
export async function planRollback(
  context: ReleaseContext,
  options: { readonly name: string; readonly namespace: string; readonly revision?: number | undefined },
): Promise<Release> {
  const { storage } = new Operation(context, 0);
  const last = await recordedRevision(storage, { ...options, revision: 0 });
  return await recordedRevision(storage, { ...options, revision: options.revision || last.revision - 1 || -1 });
}

/** What an uninstallation would do with each object. */
export interface PlannedRemoval {
  readonly deleted: readonly string[];
  readonly kept: readonly string[];
  readonly foreign: readonly string[];
}

/** What an uninstallation would take away. Nothing where there is no release and that is no error. */
export async function planUninstallation(
  context: ReleaseContext,
  options: Pick<UninstallOptions, 'name' | 'namespace' | 'ignoreNotFound'>,
): Promise<PlannedRemoval | undefined> {
  const operation = new Operation(context, 0);
  if (options.ignoreNotFound && (await operation.storage.history(options.namespace, options.name)).length === 0)
    return undefined;
  const release = await recordedRevision(operation.storage, options);
  const deleted: string[] = [];
  const kept: string[] = [];
  const foreign: string[] = [];
  for (const each of await recordedObjects(operation.client, release, release.namespace)) {
    const { name, namespace } = each.object.metadata;
    // One whose name the server chose, in a record of Helm 3, cannot be found again.
    if (!name) continue;
    const present = await operation.client.get(each.kind, { name, namespace });
    if (isKept(each.object)) kept.push(objectText(each));
    else if (present !== undefined) (isOwnedBy(present, release) ? deleted : foreign).push(objectText(each));
  }
  return { deleted, kept, foreign };
}

function installation(chart: Chart, options: InstallOptions): PrepareInput {
  checkReleaseName(options.name);
  return {
    chart,
    name: options.name,
    namespace: options.namespace,
    values: options.values ?? {},
    revision: 1,
    isUpgrade: false,
    labels: options.labels ?? {},
    skipSchemaValidation: options.skipSchemaValidation,
    subNotes: options.subNotes,
  };
}

const hiddenSecret = '# HIDDEN: The Secret output has been suppressed';

function outcome(release: Release, rendered: RenderedChart, { hideSecret = false }: DryRunOptions): Release {
  const planned = { ...release, description: dryRunDescription };
  if (!hideSecret) return planned;
  const manifests = rendered.manifests.map(({ path, kind, apiVersion, content }) => {
    const shown = kind === 'Secret' && apiVersion === 'v1' ? hiddenSecret : content;
    return `---\n# Source: ${path}\n${shown}\n`;
  });
  const hooks = release.hooks.map((hook) => (hook.kind === 'Secret' ? { ...hook, manifest: hiddenSecret } : hook));
  return { ...planned, manifest: manifests.join(''), hooks };
}
