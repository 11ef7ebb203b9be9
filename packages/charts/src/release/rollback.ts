import { applyObjects, cleanUp, dropObjects } from './apply-objects.ts';
import { openHistory, pruneHistory, settle } from './history.ts';
import { runHooks } from './hooks.ts';
import { defaultTimeoutMs, fail } from './install.ts';
import { recordedObjects, type ReleaseObject } from './objects.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';
import { waitReady } from './wait-ready.ts';

export interface RollbackOptions {
  readonly name: string;
  readonly namespace: string;
  /** Default: the one before the last. */
  readonly revision?: number;
  readonly wait?: boolean;
  /** With `wait`: until Jobs have completed, too; else it is enough that they began. Default false. */
  readonly waitForJobs?: boolean;
  /** In milliseconds. Default 300 000. */
  readonly timeoutMs?: number;
  readonly skipHooks?: boolean;
  /** Default 10. */
  readonly historyMax?: number;
  readonly forceConflicts?: boolean;
  /** Remove objects this rollback made when it fails. Default false. */
  readonly cleanupOnFail?: boolean;
  /** Default: `Rollback to 2`. */
  readonly description?: string;
}

/** Makes an older revision the newest one: its stored manifest is applied again under a new number. */
export async function rollbackRelease(context: ReleaseContext, options: RollbackOptions): Promise<Release> {
  const operation = new Operation(context, options.timeoutMs ?? defaultTimeoutMs);
  const { name, namespace } = options;
  const history = await openHistory(operation, namespace, name);
  if (history.last === undefined) {
    throw new ReleaseError('NotFound', `there is no release ${name} in namespace ${namespace}`, {
      hint: 'slipway chart list shows the releases',
    });
  }
  const wanted = options.revision || history.last.revision - 1;
  const goal = history.all.find(({ revision }) => revision === wanted);
  if (goal === undefined) {
    throw new ReleaseError('NotFound', `release ${name} has no revision ${wanted}`, {
      hint: 'slipway chart history shows the revisions',
    });
  }
  const { last, deployed: before = last } = history;
  const { deleted: _deleted, ...content } = goal;
  const release: Release = {
    ...content,
    revision: last.revision + 1,
    status: 'pending-rollback',
    description: options.description ?? `Rollback to ${goal.revision}`,
    firstDeployed: last.firstDeployed,
    lastDeployed: operation.now(),
    rollbackRevision: goal.revision,
    applyMethod: 'ssa',
  };
  // What was written last is on the cluster, whether that went well or not; what it was to replace may be there still.
  const old = await recordedObjects(operation.client, last, namespace);
  if (before !== last) old.push(...(await recordedObjects(operation.client, before, namespace)));
  const objects = await recordedObjects(operation.client, goal, namespace);
  const made = options.cleanupOnFail ? await absent(operation, objects) : [];
  await pruneHistory(operation, history, options.historyMax ?? 10);
  await operation.storage.create(release);
  return await operation.heartbeat(release, async () => {
    let current = release;
    try {
      if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, 'pre-rollback') };
      operation.say({ type: 'phase', text: `rolling ${name} back to revision ${goal.revision}` });
      try {
        // An object that was not in the last revision may come from a time when Helm 3 wrote it.
        await applyObjects(operation, objects, release, { forceConflicts: options.forceConflicts, migrate: true });
        await dropObjects(operation, old, objects);
      } catch (error) {
        // What was deployed before is no longer there as a whole.
        if (!operation.isOvertaken)
          await operation.storage.update({ ...last, status: 'superseded' }).catch(() => undefined);
        throw error;
      }
      if (options.wait) await waitReady(operation, objects, options);
      if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, 'post-rollback') };
    } catch (error) {
      await fail(operation, current, error, 'Rollback');
      if (!operation.isOvertaken && options.cleanupOnFail) await cleanUp(operation, made, release, error);
      throw error;
    }
    return await settle(operation, { ...current, status: 'deployed' });
  });
}

/** Those that are not on the cluster. */
async function absent(operation: Operation, objects: readonly ReleaseObject[]): Promise<ReleaseObject[]> {
  const found: ReleaseObject[] = [];
  for (const each of objects) {
    const { name, namespace } = each.object.metadata;
    if ((await operation.client.get(each.kind, { name: name!, namespace })) === undefined) found.push(each);
  }
  return found;
}
