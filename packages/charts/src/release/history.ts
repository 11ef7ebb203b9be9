import type { Operation } from './operation.ts';
import { abandonedAfterMs } from './operation.ts';
import { isPending, type Release } from './release.ts';
import { ReleaseError } from './release-error.ts';
import { checkReleaseName } from './release-name.ts';
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
  checkReleaseName(name);
  const stored = await operation.storage.history(namespace, name);
  const all: Release[] = [];
  for (const [index, entry] of stored.entries()) {
    if (!isPending(entry.release.status)) all.push(entry.release);
    else {
      // Where there is a later revision somebody went on already, as the helm command does with a rollback.
      if (index === stored.length - 1) refuseWhileAtWork(operation, entry);
      all.push(await abandon(operation, entry));
    }
  }
  return { all, last: all.at(-1), deployed: all.findLast(({ status }) => status === 'deployed') };
}

function refuseWhileAtWork(operation: Operation, { release, touched }: StoredRelease): void {
  if (operation.context.clock.now() - touched < abandonedAfterMs) throw atWork(release);
}

function atWork({ name, revision, status }: Release): ReleaseError {
  return new ReleaseError(
    'Busy',
    `another operation (install/upgrade/rollback) is in progress: revision ${revision} of release ${name} is ${status}`,
    {
      hint: `try again when it is done; if its process died, it counts as failed after ${abandonedAfterMs / 60_000} minutes without a sign of life`,
    },
  );
}

async function abandon(operation: Operation, { release, resourceVersion }: StoredRelease): Promise<Release> {
  const settled: Release = { ...release, status: 'failed', description: `${release.status} was abandoned` };
  // Who comes back to life at this moment keeps it.
  if (!(await operation.storage.update(settled, resourceVersion))) throw atWork(release);
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

/**
 * Ends work on a revision: what was deployed before, and what an upgrade began with, is superseded, and the new revision becomes the deployed one right after.
 * Where somebody went on to a later revision meanwhile, as the helm command does with a rollback, that one counts.
 */
export async function settle(operation: Operation, deployed: Release, base?: Release): Promise<Release> {
  const { storage } = operation;
  const next = { ...deployed, revision: deployed.revision + 1 };
  await operation.stillOurs({ fresh: true });
  if (await operation.insist(async () => await storage.has(next))) {
    const description = `Revision ${next.revision} was made meanwhile`;
    await operation.record({ ...deployed, status: 'failed', description });
    throw outrun(deployed);
  }
  await supersede(operation, deployed, base);
  await operation.record(deployed);
  if (!(await operation.insist(async () => await storage.has(next)))) return deployed;
  await operation.insist(async () => await storage.update({ ...deployed, status: 'superseded' }));
  throw outrun(deployed);
}

/** Revisions of a release that are deployed are so no more, whoever made them. */
export async function supersede(operation: Operation, by: Release, base?: Release): Promise<void> {
  const { storage } = operation;
  const deployed = await operation.insist(async () => await storage.deployed(by));
  const isAmong = deployed.some(({ revision }) => revision === base?.revision);
  for (const release of [...(base === undefined || isAmong ? [] : [base]), ...deployed]) {
    if (release.revision === by.revision) continue;
    await operation.insist(async () => await storage.update({ ...release, status: 'superseded' }));
  }
}

function outrun({ name, revision }: Release): ReleaseError {
  return new ReleaseError('Busy', `somebody else went on from revision ${revision} of release ${name} meanwhile`, {
    hint: 'slipway chart history shows what became of it; then try again',
  });
}
