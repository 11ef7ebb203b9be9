import { removeObjects } from './apply-objects.ts';
import { supersede } from './history.ts';
import { runHooks } from './hooks.ts';
import { objectText, readObjects } from './objects.ts';
import { Operation, type ReleaseContext } from './operation.ts';
import type { Release } from './release.ts';
import { ReleaseError } from './release-error.ts';

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
  if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, 'pre-delete') };
  await operation.storage.update(current);
  operation.say({ type: 'phase', text: `uninstalling ${name}` });
  const objects = await readObjects(operation.client, last.manifest, namespace);
  const { kept, foreign } = await removeObjects(operation, objects, {
    wait: options.wait ?? false,
    owner: last,
    propagationPolicy: propagationPolicies[options.cascade ?? 'background'],
  });
  if (!options.skipHooks) current = { ...current, hooks: await runHooks(operation, current, 'post-delete') };
  const done: Release = {
    ...current,
    status: 'uninstalled',
    description: options.description ?? 'Uninstallation complete',
  };
  if (options.keepHistory) {
    await operation.storage.update(done);
    const others = stored.slice(0, -1).map(({ release }) => release);
    await supersede(operation, others);
  } else await purge();
  return { release: done, kept: kept.map(objectText), foreign: foreign.map(objectText) };
}
