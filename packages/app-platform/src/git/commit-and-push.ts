import { sleep, type Clock } from '@slipway/kube';

import { decryptedPattern } from '../values/kinds.ts';
import { GitError } from './git-error.ts';
import type { WorkingCopy } from './working-copy.ts';

export const skipMarker = '[ci skip]';

export const commitMessages = {
  initial: 'otomi commit',
  values: `updated values ${skipMarker}`,
} as const;

const pushRetries = 20;
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export type PushOutcome =
  /** There was nothing to commit, and nothing left over from before. */
  | 'unchanged'
  | 'pushed'
  /** Others had pushed before: their commits are below ours now, and the files are not what they were. */
  | 'merged'
  /** Somebody else changed the same lines: theirs stay, ours are dropped, the next reconciliation writes them again. */
  | 'conflict';

export interface PushOptions {
  readonly message: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Looks at what is about to be committed; what it throws keeps it from leaving. */
  readonly inspect?: () => Promise<void>;
}

/** Commits all changes and brings them to the server, over what others have pushed meanwhile. */
export async function commitAndPush(copy: WorkingCopy, options: PushOptions): Promise<PushOutcome> {
  const { clock, signal } = options;
  const isCommitted = await commitAll(copy, options);
  const ours = await copy.revision();
  // Without anything of ours there is no reason to ask the server: what others pushed is for the next poll to find.
  if (ours === undefined || (!isCommitted && ours === (await copy.fetchedRevision()))) return 'unchanged';

  for (let attempt = 0; ; attempt += 1) {
    try {
      const theirs = await copy.remoteRevision(signal);
      if (theirs === ours) return 'unchanged';
      return await pushOnce(copy, { ours, theirs, ...(signal ? { signal } : {}) });
    } catch (error) {
      if (!(error instanceof GitError) || attempt >= pushRetries) throw error;
      await sleep(clock, Math.min(longestPauseMs, firstPauseMs * 2 ** attempt), signal);
    }
  }
}

async function commitAll(copy: WorkingCopy, { message, inspect }: PushOptions): Promise<boolean> {
  if (!(await copy.hasChanges())) return false;
  // Decrypted files stay here, whatever the repository says it ignores.
  await copy.git(['add', '--all', '--', '.', `:(exclude,glob)**/${decryptedPattern}`]);
  await inspect?.();
  const { stdout } = await copy.git(['status', '--porcelain', '--untracked-files=no']);
  if (stdout === '') return false;
  await copy.git(['commit', '--quiet', '--no-verify', '-m', message]);
  return true;
}

interface PushAttempt {
  /** What we committed, before anything was rebased. */
  readonly ours: string;
  readonly theirs: string | undefined;
  readonly signal?: AbortSignal;
}

async function pushOnce(copy: WorkingCopy, { ours, theirs, signal }: PushAttempt): Promise<PushOutcome> {
  const more = signal ? { signal } : {};
  await copy.git(['checkout', '--quiet', '-B', copy.branch]);
  if (theirs !== undefined && !(await copy.contains(theirs))) {
    try {
      await copy.atRemote(['pull', '--quiet', '--rebase', 'origin', copy.branch], more);
    } catch (error) {
      if (!(await copy.isInConflict())) throw error;
      await copy.abandonMerges();
      await copy.git(['reset', '--quiet', '--hard', 'HEAD~1']);
      return 'conflict';
    }
  }
  await copy.atRemote(['push', '--quiet', '-u', 'origin', copy.branch], more);
  // An attempt before this one may have rebased, and failed to push.
  return (await copy.revision()) === ours ? 'pushed' : 'merged';
}
