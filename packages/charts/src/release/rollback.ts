import { applyObjects, cleanUp, dropObjects } from './apply-objects.ts';
import { fail } from './failure.ts';
import { openHistory, pruneHistory, settle } from './history.ts';
import { runHooks } from './hooks.ts';
import { noRelease, noRevision } from './missing.ts';
import { recordedObjects, type ReleaseObject } from './objects.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import type { Release } from './release.ts';
import { waitReady } from './wait-ready.ts';

/** How to go back. Every flag is off by default. */
export interface RollbackOptions {
  readonly name: string;
  readonly namespace: string;
  /** Default: the one before the last. */
  readonly revision?: number;
  /** Wait until everything is ready. */
  readonly wait?: boolean;
  /** With `wait`: until Jobs have completed, too; else it is enough that they began. Default false. */
  readonly waitForJobs?: boolean;
  /** In milliseconds. Default 300 000. */
  readonly timeoutMs?: number;
  /** Run no hooks. */
  readonly skipHooks?: boolean;
  /** Revisions to keep, 0 for all. Default 10. */
  readonly historyMax?: number;
  /** Take over fields that others wrote; else they are an error. */
  readonly forceConflicts?: boolean;
  /** Remove objects this rollback made when it fails. Default false. */
  readonly cleanupOnFail?: boolean;
  /** Default: `Rollback to 2`. */
  readonly description?: string;
}

/** Makes an older revision the newest one: its stored manifest is applied again under a new number. */
export async function rollbackRelease(context: ReleaseContext, options: RollbackOptions): Promise<Release> {
  const operation = new Operation(context, options.timeoutMs);
  const { name, namespace } = options;

  // 1. Where to?
  const history = await openHistory(operation, namespace, name);
  if (history.last === undefined) throw noRelease(options);
  const { last, deployed: before = last } = history;
  const wanted = options.revision || last.revision - 1;
  const goal = history.all.find(({ revision }) => revision === wanted);
  if (goal === undefined) throw noRevision(options, wanted);

  // 2. What should be? The revision as it was, under a new number.
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

  // 3. What is there? What was written last, whether that went well or not; what it was to replace may be there still.
  const old = await recordedObjects(operation.client, last, namespace);
  if (before !== last) old.push(...(await recordedObjects(operation.client, before, namespace)));
  const objects = await recordedObjects(operation.client, goal, namespace);
  const made = options.cleanupOnFail ? await absent(operation, objects) : [];

  // 4. The record comes first.
  await pruneHistory(operation, history, options.historyMax ?? 10);
  await operation.storage.create(release);
  return await operation.heartbeat(
    release,
    async () => await carryOut(operation, { release, last, old, objects, made }, options),
  );
}

interface Rollback {
  readonly release: Release;
  /** The revision before it. */
  readonly last: Release;
  readonly old: readonly ReleaseObject[];
  readonly objects: readonly ReleaseObject[];
  /** Those that are not on the cluster yet, where they are to go when it fails. */
  readonly made: readonly ReleaseObject[];
}

async function carryOut(operation: Operation, rollback: Rollback, options: RollbackOptions): Promise<Release> {
  const { release, objects, made } = rollback;
  let current = release;
  try {
    const hooks = async (event: 'pre-rollback' | 'post-rollback'): Promise<void> => {
      if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, event) };
    };
    await hooks('pre-rollback');
    operation.say({ type: 'phase', text: `rolling ${release.name} back to revision ${release.rollbackRevision}` });
    await replaceObjects(operation, rollback, options);
    if (options.wait) await waitReady(operation, objects, options);
    await hooks('post-rollback');
  } catch (error) {
    await fail(operation, current, error, 'Rollback');
    if (!operation.isOvertaken && options.cleanupOnFail) await cleanUp(operation, made, release, error);
    throw error;
  }
  return await settle(operation, { ...current, status: 'deployed' });
}

async function replaceObjects(
  operation: Operation,
  { release, last, old, objects }: Rollback,
  { forceConflicts }: RollbackOptions,
): Promise<void> {
  try {
    // An object that was not in the last revision may come from a time when Helm 3 wrote it.
    await applyObjects(operation, objects, release, { forceConflicts, migrate: true });
    await dropObjects(operation, old, objects);
  } catch (error) {
    // What was deployed before is no longer there as a whole.
    if (!operation.isOvertaken)
      await operation.storage.update({ ...last, status: 'superseded' }).catch(() => undefined);
    throw error;
  }
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
