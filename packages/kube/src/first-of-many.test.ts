import { expect, test } from 'vitest';

import { firstOfMany } from './first-of-many.ts';

test('as many as there is room for are all shown', () => {
  expect(firstOfMany([])).toBe('');
  expect(firstOfMany(['a', 'b', 'c'])).toBe('a; b; c');
});

test('of more, the first are shown and the others counted', () => {
  expect(firstOfMany(['a', 'b', 'c', 'd', 'e'])).toBe('a; b; c; and 2 more');
  expect(firstOfMany(['a', 'b', 'c'], { shown: 1, separator: ', ' })).toBe('a, and 2 more');
});
