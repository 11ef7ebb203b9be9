import { expect, test } from 'vitest';

import { isTeamsOnlyChange } from './git-repository.ts';

test.each([
  [['env/teams/red/settings.yaml', 'teams/blue/x.yaml'], true],
  [['env/teams/red/settings.yaml', 'env/apps/x.yaml'], false],
  [['env/teamsters/x.yaml'], false],
  [[], false],
])('isTeamsOnlyChange(%j) is %s', (files, expected) => {
  expect(isTeamsOnlyChange(files)).toBe(expected);
});
