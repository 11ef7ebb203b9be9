import type { Chart } from '../chart/chart.ts';
import { applyObjects, cleanUp, dropObjects } from './apply-objects.ts';
import { fail, undo } from './failure.ts';
import { baseOf, openHistory, pruneHistory, settle } from './history.ts';
import { runHooks } from './hooks.ts';
import { type InstallOptions, installRelease } from './install.ts';
import { neverDeployed } from './missing.ts';
import { identityOf, readObjects, recordedObjects, refuseNameless, type ReleaseObject } from './objects.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import { findPresent } from './ownership.ts';
import { prepareRelease } from './prepare.ts';
import type { Release } from './release.ts';
import { ReleaseError, textOf } from './release-error.ts';
import { rollbackRelease } from './rollback.ts';
import { upgradePreparation } from './upgrade-input.ts';
import { waitReady } from './wait-ready.ts';

/** How to upgrade; `rollbackOnFailure` goes back to the last revision that was deployed. */
export interface UpgradeOptions extends Omit<InstallOptions, 'replace'> {
  /** Install it when there is no release of that name. Default false. */
  readonly install?: boolean;
  /**
   * Which values count: `default` takes the given ones, or the last ones when none are given; `reset` only the given ones; `reuse` the last ones with the given
   * over them, and the old chart's defaults; `reset-then-reuse` the same over the new chart's defaults. Default `default`.
   */
  readonly valuesFrom?: 'default' | 'reset' | 'reuse' | 'reset-then-reuse';
  /** Revisions to keep, 0 for all. Default 10. */
  readonly historyMax?: number;
  /** Remove objects this upgrade made when it fails. Default false. */
  readonly cleanupOnFail?: boolean;
}

/** Upgrades a release to another chart or other values. */
export async function upgradeRelease(context: ReleaseContext, chart: Chart, options: UpgradeOptions): Promise<Release> {
  const operation = new Operation(context, options.timeoutMs);
  const { name, namespace } = options;

  // 1. What is there? A release that was never deployed is upgraded from its last revision.
  const history = await openHistory(operation, namespace, name);
  if (history.last === undefined || history.last.status === 'uninstalled') {
    if (options.install)
      return await installRelease(context, chart, { ...options, replace: history.last !== undefined });
    throw neverDeployed(options);
  }
  const base = baseOf(history.all)!;

  // 2. What should be?
  const { release } = await prepareRelease(operation, upgradePreparation(base, history.last, chart, options));
  const old = await recordedObjects(operation.client, base, namespace);
  const objects = await readObjects(operation.client, release.manifest, namespace);
  refuseNameless(objects);

  // 3. Nothing of somebody else's is overwritten.
  const before = new Set(old.map(identityOf));
  const added = objects.filter((each) => !before.has(identityOf(each)));
  const present = await findPresent(operation.client, added, release, options);
  const made = added.filter((each) => !present.has(each));

  // 4. The record comes first.
  await pruneHistory(operation, history, options.historyMax ?? 10);
  await operation.storage.create(release);
  return await operation.heartbeat(
    release,
    async () => await carryOut(operation, { release, base, old, objects, made, history: history.all }, options),
  );
}

interface Upgrade {
  readonly release: Release;
  readonly base: Release;
  readonly old: readonly ReleaseObject[];
  readonly objects: readonly ReleaseObject[];
  /** Those that are not on the cluster yet. */
  readonly made: readonly ReleaseObject[];
  readonly history: readonly Release[];
}

async function carryOut(operation: Operation, upgrade: Upgrade, options: UpgradeOptions): Promise<Release> {
  const { release, base, old, objects, made, history } = upgrade;
  let current = release;
  try {
    const hooks = async (event: 'pre-upgrade' | 'post-upgrade'): Promise<void> => {
      if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, event) };
    };
    await hooks('pre-upgrade');
    operation.say({ type: 'phase', text: `upgrading ${release.name} to revision ${release.revision}` });
    await applyObjects(operation, objects, release, {
      forceConflicts: options.forceConflicts,
      migrate: base.applyMethod === 'csa',
    });
    await dropObjects(operation, old, objects);
    if (options.wait || options.rollbackOnFailure) await waitReady(operation, objects, options);
    await hooks('post-upgrade');
  } catch (error) {
    await fail(operation, current, error, 'Upgrade');
    if (operation.isOvertaken) throw error;
    if (options.cleanupOnFail) await cleanUp(operation, made, release, error);
    const good = history.findLast(({ status }) => status === 'deployed' || status === 'superseded');
    if (!options.rollbackOnFailure || good === undefined) throw error;
    await undo(error, `rolled back to revision ${good.revision}`, async () => {
      await rollbackRelease(operation.uninterrupted, {
        name: release.name,
        namespace: release.namespace,
        revision: good.revision,
        wait: true,
        waitForJobs: options.waitForJobs,
        timeoutMs: options.timeoutMs,
        skipHooks: options.skipHooks,
        // As Helm does: what is there to go back to is not given up while things go wrong.
        historyMax: 0,
        forceConflicts: options.forceConflicts,
      });
    });
    throw new ReleaseError(
      'Refused',
      `release ${release.name} failed, and has been rolled back to revision ${good.revision}: ${textOf(error)}`,
      { cause: error },
    );
  }
  const deployed: Release = { ...current, status: 'deployed', description: options.description ?? 'Upgrade complete' };
  return await settle(operation, deployed, base);
}
