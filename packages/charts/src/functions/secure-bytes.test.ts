import { expect, test } from 'vitest';

import { askNode, secureBytes } from './secure-bytes.ts';

test.each([
  ['from the system', secureBytes],
  ['where it has no file of them', askNode],
])('bytes %s are as many as were asked for, and other ones each time', (_where, bytesOf) => {
  for (const size of [0, 1, 16, 65_536, 65_537, 1_000_000]) expect(bytesOf(size)).toHaveLength(size);
  expect(bytesOf(32)).not.toEqual(bytesOf(32));
  // In so many bytes each value is there: half-filled ones would have too many zeros.
  expect(new Set(bytesOf(20_000)).size).toBe(256);
  expect(new Set(bytesOf(100_000).subarray(-20_000)).size).toBe(256);
});
