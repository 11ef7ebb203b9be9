import type { Operation } from './operation.ts';
import { abandonedAfterMs } from './operation.ts';
import { isPending, type Release } from './release.ts';
import { ReleaseError } from './release-error.ts';
import type { StoredRelease } from './storage.ts';

/** The revisions of a release that count. */
export interface History {
  readonly all: readonly Release[];
  readonly last: Release | undefined;
  /** The one whose objects are on the cluster. */
  readonly deployed: Release | undefined;
}

/**
 * Reads the history of a release. A revision somebody is working on is an error; one whose worker died is marked failed, so that no release is stuck
 * for ever.
 */
export async function openHistory(operation: Operation, namespace: string, name: string): Promise<History> {
  const stored = await operation.storage.history(namespace, name);
  const all: Release[] = [];
  for (const [index, entry] of stored.entries()) {
    if (!isPending(entry.release.status)) all.push(entry.release);
    else {
      // Where there is a later revision somebody went on already, as the helm command does with a rollback.
      if (index === stored.length - 1) refuseWhileAtWork(operation, entry);
      all.push(await abandon(operation, entry.release));
    }
  }
  return { all, last: all.at(-1), deployed: all.findLast(({ status }) => status === 'deployed') };
}

function refuseWhileAtWork(operation: Operation, { release, touched }: StoredRelease): void {
  const idle = operation.context.clock.now() - touched;
  if (idle < abandonedAfterMs) {
    throw new ReleaseError(
      'Busy',
      `another operation (install/upgrade/rollback) is in progress: revision ${release.revision} of release ${release.name} is ${release.status}`,
      {
        hint: `try again when it is done; if its process died, it counts as failed after ${abandonedAfterMs / 60_000} minutes without a sign of life`,
      },
    );
  }
}

async function abandon(operation: Operation, release: Release): Promise<Release> {
  const settled: Release = { ...release, status: 'failed', description: `${release.status} was abandoned` };
  await operation.storage.update(settled);
  return settled;
}

/** What an upgrade starts from: the revision that is deployed, else the last one. */
export function baseOf(history: readonly Release[]): Release | undefined {
  return history.findLast(({ status }) => status === 'deployed') ?? history.at(-1);
}

/** Removes the oldest revisions beyond `most`, never the deployed one. 0 keeps all. */
export async function pruneHistory(operation: Operation, history: History, most: number): Promise<void> {
  if (most <= 0) return;
  const removable = history.all.filter((release) => release !== history.deployed);
  const surplus = history.all.length - (most - 1);
  for (const release of removable.slice(0, Math.max(0, surplus))) await operation.storage.delete(release);
}

/** What was deployed before, and what an upgrade began with, is superseded; the new revision becomes the deployed one right after. */
export async function supersede(operation: Operation, history: readonly Release[], base?: Release): Promise<void> {
  for (const release of history) {
    if (release.status === 'deployed' || release === base)
      await operation.storage.update({ ...release, status: 'superseded' });
  }
}
