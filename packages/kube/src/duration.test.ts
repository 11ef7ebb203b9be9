import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { days, formatDuration, hours, minutes, parseDuration, seconds } from './duration.ts';

describe('durations', () => {
  test.each([
    ['0', 0],
    ['1h30m', 5_400_000],
    ['1.5s', 1_500],
    ['-250ms', -250],
    ['+.5m', 30_000],
    ['100us', 0.1],
    ['100µs', 0.1],
    ['2h45m30.5s', 9_930_500],
  ])('%s is %d ms', (text, expected) => expect(parseDuration(text)).toBeCloseTo(expected, 9));

  test.each([
    ['', '"" is not a duration'],
    ['5', 'has a number without a unit'],
    ['1d', 'unknown unit "d"'],
    ['1h 30m', 'is not a duration'],
    ['h', 'is not a duration'],
    ['1constructor', 'unknown unit "constructor"'],
  ])('"%s" is refused with what is wrong', (text, problem) => expect(() => parseDuration(text)).toThrow(problem));

  test.each([
    [0, '0s'],
    [5_400_000, '1h30m0s'],
    [1_500, '1.5s'],
    [60_000, '1m0s'],
    [250, '250ms'],
    [0.1, '100µs'],
    [-90_000, '-1m30s'],
  ])('%d ms prints as Go prints it', (value, text) => expect(formatDuration(value)).toBe(text));

  test('what is printed reads back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (value) => parseDuration(formatDuration(value)) === value),
    );
  });

  test('helpers give milliseconds', () => {
    expect([seconds(2), minutes(10), hours(1), days(1)]).toEqual([2_000, 600_000, 3_600_000, 86_400_000]);
  });
});
