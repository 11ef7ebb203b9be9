import { sleep } from '@slipway/kube';

import { skipMarker } from '../git/commit-and-push.ts';
import { GitError } from '../git/git-error.ts';
import type { RemoteHeads } from '../git/remote-head.ts';
import type { TreeEntry, WorkingCopy } from '../git/working-copy.ts';
import { step } from '../operator-error.ts';
import type { Platform } from '../platform/platform.ts';

/** What a poll found. */
export interface GitChanges {
  readonly hasChangesToApply: boolean;
  readonly applyTeamsOnly: boolean;
}

const nothing: GitChanges = { hasChangesToApply: false, applyTeamsOnly: false };
const teamPrefixes = ['env/teams/', 'teams/'];

/** The values repository as the loops see it: where it was last, and what has changed since. */
export class GitRepository {
  readonly copy: WorkingCopy;
  readonly #heads: RemoteHeads;
  #lastRevision = '';
  /** What was in that commit. */
  #lastEntries: readonly TreeEntry[] = [];

  constructor(copy: WorkingCopy, heads: RemoteHeads) {
    this.copy = copy;
    this.#heads = heads;
  }

  /** The commit that was looked at last; empty before the first. */
  get lastRevision(): string {
    return this.#lastRevision;
  }

  /** Resolves when the server answers for the repository; an empty one will do. */
  async waitTillAvailable(platform: Platform): Promise<void> {
    const { clock, settings, log, signal } = platform;
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#heads.read(signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (attempt >= settings.retries) throw error;
        log.info('waiting for the Git repository', { error });
        await sleep(clock, settings.minTimeoutMs, signal);
      }
    }
  }

  async clone(): Promise<void> {
    await step('Repository clone failed', () => this.copy.exclusive(() => this.copy.prepare()));
  }

  /** Resolves when there is a commit, which is the one the loops begin with. */
  async waitForCommits(platform: Platform): Promise<void> {
    const { clock, settings, log, signal } = platform;
    for (let attempt = 0; ; attempt += 1) {
      if ((await this.#heads.read(signal)).has(this.copy.branch)) break;
      if (attempt >= settings.retries)
        throw new GitError('NotFound', `the repository has no branch ${this.copy.branch}; push one`);
      log.info('waiting for a commit', { branch: this.copy.branch });
      await sleep(clock, settings.minTimeoutMs, signal);
    }
    await this.copy.exclusive(async () => {
      await this.copy.takeRemote(signal);
      await this.copy.removeUntracked();
      await this.#look();
    });
  }

  /** Takes over what the server has and says what it means. An unchanged branch costs one request and no process. */
  async syncAndAnalyzeChanges(platform: Platform): Promise<GitChanges> {
    const { signal } = platform;
    return await step('Repository sync and analysis failed', async () => {
      const heads = await this.#heads.read(signal);
      const head = heads.get(this.copy.branch);
      // A branch that is gone or empty says nothing about what the platform should be.
      if (head === undefined) throw missingBranch(heads, this.copy.branch);
      if (head === this.#lastRevision) return nothing;
      return await this.copy.exclusive(() => this.#analyze(platform));
    });
  }

  async #analyze({ log, signal }: Platform): Promise<GitChanges> {
    const [previous, entries] = [this.#lastRevision, this.#lastEntries];
    const fetched = (await this.copy.fetch(signal)) ?? '';
    // What they ask about is in the commits, whatever is checked out. None of them may go on when another fails: the next has the files.
    const [asked, , checkedOut] = await Promise.allSettled([
      previous === '' ? undefined : this.copy.subjects(previous, fetched),
      this.copy.entries('.', fetched),
      this.copy.checkOut(signal),
    ]);
    if (checkedOut.status === 'rejected') throw checkedOut.reason;
    if (asked.status === 'rejected') throw asked.reason;
    await this.copy.removeUntracked();
    // Before anything is applied: a commit that cannot be applied is not tried again by every poll.
    const revision = await this.#look();
    if (revision === previous) return nothing;
    log.info('Repository updated', { from: previous, to: revision });
    // After a forced push the old commit may be gone from the server, and with it what was said about it.
    const subjects = asked.value;
    if (!subjects) return { hasChangesToApply: true, applyTeamsOnly: false };
    if (subjects.every((subject) => subject.includes(skipMarker))) {
      log.info(`All new commits contain "${skipMarker}" - skipping apply`);
      return nothing;
    }
    const applyTeamsOnly = isTeamsOnlyChange(changedFiles(entries, this.#lastEntries));
    if (applyTeamsOnly) log.info('All changes are in teams directory - applying teams only');
    return { hasChangesToApply: true, applyTeamsOnly };
  }

  /** Takes down where the checkout is. */
  async #look(): Promise<string> {
    this.#lastRevision = (await this.copy.revision()) ?? '';
    this.#lastEntries = await this.copy.entries('.');
    return this.#lastRevision;
  }
}

function missingBranch(heads: ReadonlyMap<string, string>, branch: string): GitError {
  const others = [...heads.keys()].sort().slice(0, 5).join(', ');
  const found =
    others === '' ? 'the repository is empty' : `the repository has no branch ${branch} any more, only ${others}`;
  return new GitError(
    'NotFound',
    `${found}; push ${branch} again, or the next reconcile does with what the platform runs`,
  );
}

/** Files that one commit has and the other does not have in the same way; one that moved is two. */
function changedFiles(before: readonly TreeEntry[], after: readonly TreeEntry[]): string[] {
  const kept = (entry: TreeEntry): string => `${entry.mode} ${entry.id} ${entry.path}`;
  const [old, present] = [new Set(before.map(kept)), new Set(after.map(kept))];
  const changed = [
    ...before.filter((entry) => !present.has(kept(entry))),
    ...after.filter((entry) => !old.has(kept(entry))),
  ];
  return [...new Set(changed.map(({ path }) => path))];
}

export function isTeamsOnlyChange(files: readonly string[]): boolean {
  return files.length > 0 && files.every((file) => teamPrefixes.some((prefix) => file.startsWith(prefix)));
}
