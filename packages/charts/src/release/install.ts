import { type KubeObject, Namespace } from '@slipway/kube';

import type { Chart } from '../chart/chart.ts';
import { chartCrds, type UserValues } from '../render/render.ts';
import { applyObjects } from './apply-objects.ts';
import { fail, undo } from './failure.ts';
import { openHistory, settle } from './history.ts';
import { runHooks } from './hooks.ts';
import { objectText, readObjects, refuseNameless, type ReleaseObject } from './objects.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import { findPresent } from './ownership.ts';
import { prepareRelease } from './prepare.ts';
import type { Release } from './release.ts';
import { ReleaseError, textOf } from './release-error.ts';
import { uninstallRelease } from './uninstall.ts';
import { waitReady } from './wait-ready.ts';

/** How to install a release. Every flag is off by default. */
export interface InstallOptions {
  readonly name: string;
  readonly namespace: string;
  /** The user's values. Default: none. */
  readonly values?: UserValues;
  /** Make the namespace when it is missing. Default false. */
  readonly createNamespace?: boolean;
  /** Wait until everything is ready. Default false. */
  readonly wait?: boolean;
  /** With `wait`: until Jobs have completed, too; else it is enough that they began. Default false. */
  readonly waitForJobs?: boolean;
  /** Uninstall again when it fails; waits too. Default false. */
  readonly rollbackOnFailure?: boolean;
  /** For hooks and waits, in milliseconds. Default 300 000. */
  readonly timeoutMs?: number;
  /** Leave out the files under `crds/`. */
  readonly skipCrds?: boolean;
  /** Run no hooks. */
  readonly skipHooks?: boolean;
  /** Do not check values against values.schema.json. */
  readonly skipSchemaValidation?: boolean;
  /** Notes of subcharts besides the chart's own. Default false. */
  readonly subNotes?: boolean;
  /** Take over objects of others. Default false. */
  readonly takeOwnership?: boolean;
  /** Take over fields that others wrote; else they are an error. */
  readonly forceConflicts?: boolean;
  /** Use the name of a release that failed or was uninstalled with its history kept. Default false. */
  readonly replace?: boolean;
  /** Labels of the record. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** A text for the history. Default: `Install complete`, of an upgrade `Upgrade complete`. */
  readonly description?: string;
}

/** Installs a chart as a new release. */
export async function installRelease(context: ReleaseContext, chart: Chart, options: InstallOptions): Promise<Release> {
  const operation = new Operation(context, options.timeoutMs);
  const { name, namespace } = options;

  // 1. The name has to be free.
  const history = await openHistory(operation, namespace, name);
  const reusable =
    history.last === undefined || (options.replace && ['failed', 'uninstalled'].includes(history.last.status));
  if (!reusable) {
    throw new ReleaseError(
      'InUse',
      `cannot reuse a name that is still in use: release ${name} in namespace ${namespace} is ${history.last!.status}`,
      {
        hint: 'upgrade it, uninstall it, or choose another name',
      },
    );
  }

  // 2. Definitions first: templates may ask for their kinds, and objects of them may follow.
  if (!options.skipCrds) await installCrds(operation, chart, options.values ?? {});
  const { release } = await prepareRelease(operation, {
    chart,
    name,
    namespace,
    values: options.values ?? {},
    revision: (history.last?.revision ?? 0) + 1,
    // Of a name that is used again templates see what they see of a new one.
    shownRevision: 1,
    isUpgrade: false,
    labels: options.labels ?? {},
    skipSchemaValidation: options.skipSchemaValidation,
    subNotes: options.subNotes,
  });

  // 3. Nothing of somebody else's is overwritten.
  const objects = await readObjects(operation.client, release.manifest, namespace);
  refuseNameless(objects);
  const present = await findPresent(operation.client, objects, release, options);

  if (options.createNamespace) await ensureNamespace(operation, namespace);

  // 4. The record comes before the objects: whoever finds them can tell where they come from.
  if (history.last?.status === 'uninstalled')
    await operation.storage.update({
      ...history.last,
      status: 'superseded',
      description: 'superseded by new release',
    });
  await operation.storage.create(release);
  const adopts = present.size > 0;
  return await operation.heartbeat(release, async () => await carryOut(operation, release, objects, adopts, options));
}

async function carryOut(
  operation: Operation,
  release: Release,
  objects: readonly ReleaseObject[],
  adopts: boolean,
  options: InstallOptions,
): Promise<Release> {
  let current = release;
  try {
    const hooks = async (event: 'pre-install' | 'post-install'): Promise<void> => {
      if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, event) };
    };
    await hooks('pre-install');
    operation.say({ type: 'phase', text: `installing ${release.name}` });
    await applyObjects(operation, objects, release, {
      forceConflicts: options.forceConflicts,
      migrate: adopts,
      makesRest: !adopts,
    });
    if (options.wait || options.rollbackOnFailure) await waitReady(operation, objects, options);
    await hooks('post-install');
  } catch (error) {
    await fail(operation, current, error);
    if (!options.rollbackOnFailure || operation.isOvertaken) throw error;
    await undo(error, 'uninstalled', async () => {
      await uninstallRelease(operation.uninterrupted, {
        name: release.name,
        namespace: release.namespace,
        // Whoever installs it again does not meet what is still going.
        wait: true,
        skipHooks: options.skipHooks,
        timeoutMs: options.timeoutMs,
      });
    });
    throw new ReleaseError('Refused', `release ${release.name} failed, and has been uninstalled: ${textOf(error)}`, {
      cause: error,
    });
  }
  const deployed: Release = { ...current, status: 'deployed', description: options.description ?? 'Install complete' };
  return await settle(operation, deployed);
}

/** As Helm does, which marks one that is there already, too. */
async function ensureNamespace(operation: Operation, name: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: Namespace.kind, metadata: { name, labels: { name } }, spec: {} };
  await operation.client.apply(namespace, { fieldManager: 'helm', force: false });
}

/** Files under `crds/` are installed once and never changed or removed: too much hangs on a definition. */
async function installCrds(operation: Operation, chart: Chart, values: UserValues): Promise<void> {
  const made: ReleaseObject[] = [];
  for (const { path, content } of chartCrds(chart, values)) {
    for (const each of await readObjects(operation.client, content, '', path)) {
      if (await operation.client.get(each.kind, { name: each.object.metadata.name! })) continue;
      await operation.client.apply(each.object as KubeObject, { fieldManager: 'helm', force: false });
      operation.say({ type: 'applied', object: objectText(each) });
      made.push(each);
    }
  }
  if (made.length === 0) return;
  await waitReady(operation, made);
  await operation.client.discover({ fresh: true });
}
