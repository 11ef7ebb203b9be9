import { removeObjects } from './apply-objects.ts';
import { supersede } from './history.ts';
import { HookFailure, runHooks } from './hooks.ts';
import { objectText, recordedObjects } from './objects.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';
import { checkReleaseName } from './release-name.ts';

export interface UninstallOptions {
  readonly name: string;
  readonly namespace: string;
  /** Keep the records. Default false. */
  readonly keepHistory?: boolean;
  /** Wait until the objects are gone. Default false. */
  readonly wait?: boolean;
  /** In milliseconds. Default 300 000. */
  readonly timeoutMs?: number;
  readonly skipHooks?: boolean;
  /** What becomes of what the objects own. Default `background`. */
  readonly cascade?: 'background' | 'foreground' | 'orphan';
  readonly description?: string;
  /** No release of that name is no error. Default false. */
  readonly ignoreNotFound?: boolean;
}

const propagationPolicies = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

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
  const operation = new Operation(context, options.timeoutMs ?? 300_000);
  const { name, namespace } = options;
  checkReleaseName(name);
  const stored = await operation.storage.history(namespace, name);
  const last = stored.at(-1)?.release;
  if (last === undefined || (last.status === 'uninstalled' && options.keepHistory)) {
    if (options.ignoreNotFound) return undefined;
    throw new ReleaseError('NotFound', `there is no release ${name} in namespace ${namespace}`, {
      hint: 'slipway chart list shows the releases',
    });
  }
  const purge = async (): Promise<void> => {
    for (const { release } of stored) await operation.storage.delete(release);
  };
  if (last.status === 'uninstalled') {
    await purge();
    return { release: last, kept: [], foreign: [] };
  }
  let current: Release = {
    ...last,
    status: 'uninstalling',
    deleted: operation.now(),
    description: 'Deletion in progress (or silently failed)',
  };
  await operation.record(current);
  const takeAway = async (): Promise<Uninstalled> => {
    if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, 'pre-delete') };
    operation.say({ type: 'phase', text: `uninstalling ${name}` });
    const objects = await recordedObjects(operation.client, last, namespace);
    const { kept, foreign, removed } = await removeObjects(
      operation,
      objects,
      last,
      propagationPolicies[options.cascade ?? 'background'],
    );

    // Nothing is left to come back to: what goes wrong from here on is told when the records are gone.
    const failures: unknown[] = [];
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      await work().catch((error: unknown) => failures.push(error));
    };
    if (options.wait) await attempt(async () => await operation.untilGone(removed));
    if (!options.skipHooks)
      await attempt(async () => {
        current = { ...current, hooks: await runHooks(operation, current, 'post-delete') };
      });
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
    } else await purge();
    const [first] = failures;
    if (first !== undefined) throw first;
    return { release: done, kept: kept.map(objectText), foreign: foreign.map(objectText) };
  };
  try {
    return await operation.alive(current, takeAway);
  } catch (error) {
    if (operation.isInterrupted)
      operation.say({ type: 'phase', text: `interrupted: some of ${name} may be gone; uninstall it again` });
    throw error;
  }
}
