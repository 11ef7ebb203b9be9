import { expect, test } from 'vitest';

import { nextVersion } from './version.ts';

test.each([
  ['a new control plane gets what is configured', undefined, '1.34.2', '1.34.2'],
  ['a patch version is taken', '1.34.1', '1.34.2', '1.34.2'],
  ['the next minor version is taken', '1.34.9', '1.35.0', '1.35.0'],
  ['ten comes after nine', '1.34.9', '1.34.10', '1.34.10'],
])('%s', (_what, present, wanted, version) => {
  expect(nextVersion(present, wanted)).toEqual({ version });
});

test.each([
  ['back to a patch version', '1.34.10', '1.34.9', /does not go back to 1\.34\.9/],
  ['back to a minor version', '1.35.0', '1.34.9', /does not go back to 1\.34\.9/],
  ['over a minor version', '1.34.0', '1.36.0', /configure 1\.35 first/],
  ['over a major version', '1.34.0', '2.0.0', /configure 1\.35 first/],
])('%s is refused', (_what, present, wanted, says) => {
  const { version, refused } = nextVersion(present, wanted);
  expect(version).toBe(present);
  expect(refused).toMatch(says);
});
