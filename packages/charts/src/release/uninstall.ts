import { removeObjects } from './apply-objects.ts';
import { supersede } from './history.ts';
import { HookFailure, runHooks } from './hooks.ts';
import { noRelease } from './missing.ts';
import { objectText, recordedObjects } from './objects.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import type { Release } from './release.ts';
import { checkReleaseName } from './release-name.ts';
import type { StoredRelease } from './storage.ts';

/** How to uninstall. */
export interface UninstallOptions {
  readonly name: string;
  readonly namespace: string;
  /** Keep the records. Default false. */
  readonly keepHistory?: boolean;
  /** Wait until the objects are gone. Default false. */
  readonly wait?: boolean;
  /** In milliseconds. Default 300 000. */
  readonly timeoutMs?: number;
  /** Run no hooks. Default false. */
  readonly skipHooks?: boolean;
  /** What becomes of what the objects own. Default `background`. */
  readonly cascade?: 'background' | 'foreground' | 'orphan';
  /** A text for the history that is kept. Default: `Uninstallation complete`. */
  readonly description?: string;
  /** No release of that name is no error. Default false. */
  readonly ignoreNotFound?: boolean;
}

const propagationPolicies = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

/** What became of a release that was uninstalled. Objects are such as `Deployment shop/web`. */
export interface Uninstalled {
  readonly release: Release;
  /** Objects that asked to stay. */
  readonly kept: readonly string[];
  /** Objects that belong to somebody else by now, and stayed too. */
  readonly foreign: readonly string[];
}

/** Removes a release and its objects. It goes on where an earlier try stopped. */
export async function uninstallRelease(
  context: ReleaseContext,
  options: UninstallOptions,
): Promise<Uninstalled | undefined> {
  const operation = new Operation(context, options.timeoutMs);
  const { name, namespace } = options;

  // 1. What is there? Of a release that was uninstalled with its history kept, that history.
  checkReleaseName(name);
  const stored = await operation.storage.history(namespace, name);
  const last = stored.at(-1)?.release;
  if (last === undefined || (last.status === 'uninstalled' && options.keepHistory)) {
    if (options.ignoreNotFound) return undefined;
    throw noRelease(options);
  }
  if (last.status === 'uninstalled') {
    await purge(operation, stored);
    return { release: last, kept: [], foreign: [] };
  }

  // 2. The record comes first: whoever finds it knows that objects may be gone.
  const going: Release = {
    ...last,
    status: 'uninstalling',
    deleted: operation.now(),
    description: 'Deletion in progress (or silently failed)',
  };
  await operation.record(going);

  // 3. The objects, and then the records.
  try {
    return await operation.alive(going, async () => await takeAway(operation, going, stored, options));
  } catch (error) {
    if (operation.isInterrupted)
      operation.say({ type: 'phase', text: `interrupted: some of ${name} may be gone; uninstall it again` });
    throw error;
  }
}

async function takeAway(
  operation: Operation,
  going: Release,
  stored: readonly StoredRelease[],
  options: UninstallOptions,
): Promise<Uninstalled> {
  let current = going;
  const hooks = async (event: 'pre-delete' | 'post-delete'): Promise<void> => {
    if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, event) };
  };
  await hooks('pre-delete');
  operation.say({ type: 'phase', text: `uninstalling ${going.name}` });
  const objects = await recordedObjects(operation.client, going, going.namespace);
  const policy = propagationPolicies[options.cascade ?? 'background'];
  const { kept, foreign, removed } = await removeObjects(operation, objects, going, policy);

  // Nothing is left to come back to: what goes wrong from here on is told when the records are gone.
  const failures: unknown[] = [];
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => failures.push(error));
  };
  if (options.wait) await attempt(async () => await operation.untilGone(removed));
  await attempt(async () => await hooks('post-delete'));
  const failedHook = failures.find((error) => error instanceof HookFailure);
  const done: Release = {
    ...current,
    hooks: failedHook?.hooks ?? current.hooks,
    status: 'uninstalled',
    description: options.description ?? 'Uninstallation complete',
  };
  if (options.keepHistory) {
    await operation.record(done);
    await supersede(operation, done);
  } else await purge(operation, stored);
  if (failures.length > 0) throw failures[0];
  return { release: done, kept: kept.map(objectText), foreign: foreign.map(objectText) };
}

async function purge(operation: Operation, stored: readonly StoredRelease[]): Promise<void> {
  for (const { release } of stored) await operation.storage.delete(release);
}
