import { expect, test } from 'vitest';

import { secureBytes } from './secure-bytes.ts';

test('bytes are as many as were asked for, and other ones each time', () => {
  for (const size of [0, 1, 16, 100_000]) expect(secureBytes(size)).toHaveLength(size);
  expect(secureBytes(32)).not.toEqual(secureBytes(32));
  // In so many bytes each value is there: half-filled ones would have too many zeros.
  expect(new Set(secureBytes(20_000)).size).toBe(256);
});
