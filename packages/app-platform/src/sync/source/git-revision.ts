import { GitError } from '../../git/git-error.ts';

/** A commit, and the reference it is fetched by. */
export interface ResolvedRevision {
  readonly commit: string;
  readonly ref: string;
}

const fullCommit = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** Whether a revision says by itself which commit it means. */
export function isCommit(revision: string): boolean {
  return fullCommit.test(revision);
}

/** The commit a `targetRevision` means: nothing or `HEAD`, a branch, a tag, a whole reference. Branches win over tags, as for Argo CD. */
export function resolveRevision(refs: ReadonlyMap<string, string>, revision: string): ResolvedRevision {
  const candidates = revision === '' ? ['HEAD'] : [revision, `refs/heads/${revision}`, `refs/tags/${revision}`];
  for (const ref of candidates) {
    // An annotated tag is an object of its own; the commit is behind it.
    const commit = refs.get(`${ref}^{}`) ?? refs.get(ref);
    if (commit !== undefined) return { commit, ref };
  }
  throw new GitError(
    'NotFound',
    `the repository has no branch or tag '${revision || 'HEAD'}'; push it, or correct targetRevision`,
  );
}
