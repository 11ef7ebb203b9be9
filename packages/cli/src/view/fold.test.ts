import { expect, test } from 'vitest';

import { fold } from './fold.ts';
import { textWidth } from './text-width.ts';

test('a line that fits stays as it is', () => {
  expect(fold('   0.1s    + Namespace hello', 40)).toEqual(['   0.1s    + Namespace hello']);
});

test('a sentence goes on below', () => {
  expect(fold('   0.1s  Operand hello → Waiting: the Deployment is not ready', 40)).toEqual([
    '   0.1s  Operand hello → Waiting: the',
    '             Deployment is not ready',
  ]);
});

test('a word that is longer than a line is cut', () => {
  expect(fold('  created    Role a-name-that-is-longer-than-the-line', 30)).toEqual([
    '  created    Role',
    '             a-name-that-is-l…',
  ]);
});

test.each([20, 40, 80])('nothing is wider than %d', (width) => {
  const line = `   0.1s  Thing x → Waiting: ${'word '.repeat(20)}${'w'.repeat(100)}`;
  for (const part of fold(line, width)) expect(textWidth(part)).toBeLessThanOrEqual(width);
});
