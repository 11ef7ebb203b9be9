import { expect, test } from 'vitest';

import { isCommit, resolveRevision } from './git-revision.ts';

const refs = new Map([
  ['HEAD', 'c1'],
  ['refs/heads/main', 'c1'],
  ['refs/heads/v1', 'c2'],
  ['refs/tags/v1', 'c3'],
  ['refs/tags/v2', 'tag object'],
  ['refs/tags/v2^{}', 'c4'],
]);

test.each([
  ['', 'c1', 'HEAD'],
  ['HEAD', 'c1', 'HEAD'],
  ['main', 'c1', 'refs/heads/main'],
  // A branch wins over a tag of its name; the whole name says which is meant.
  ['v1', 'c2', 'refs/heads/v1'],
  ['refs/tags/v1', 'c3', 'refs/tags/v1'],
  // An annotated tag stands for its commit.
  ['v2', 'c4', 'refs/tags/v2'],
])('targetRevision %j is %s', (revision, commit, ref) => {
  expect(resolveRevision(refs, revision)).toEqual({ commit, ref });
});

test('a revision nobody pushed is an error that says what to do', () => {
  expect(() => resolveRevision(refs, 'v3')).toThrow("no branch or tag 'v3'; push it, or correct targetRevision");
  expect(isCommit('v3')).toBe(false);
  expect(isCommit('a'.repeat(40))).toBe(true);
});
