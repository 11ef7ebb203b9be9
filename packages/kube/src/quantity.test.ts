import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { addQuantities, compareQuantities, formatQuantity, parseQuantity, quantityToNumber } from './quantity.ts';

describe('quantities', () => {
  test.each([
    ['500m', 0.5],
    ['1Gi', 1_073_741_824],
    ['1.5Gi', 1_610_612_736],
    ['2e3', 2_000],
    ['2E', 2e18],
    ['-1k', -1_000],
    ['100n', 1e-7],
    ['.5', 0.5],
    [3, 3],
  ])('%s reads as %d', (text, expected) => expect(quantityToNumber(text)).toBe(expected));

  test.each(['', 'abc', '1 Gi', '1KiB', '1K', '--1', 'Gi', '1e99999'])('"%s" is refused', (text) =>
    expect(() => parseQuantity(text)).toThrow('is not a quantity'),
  );

  test('what is finer than a billionth is rounded up', () => {
    expect(parseQuantity('0.0000000001').nano).toBe(1n);
  });

  test('compare and add without rounding', () => {
    expect(compareQuantities('1000m', 1)).toBe(0);
    expect(compareQuantities('1Gi', '1G')).toBe(1);
    expect(compareQuantities('1m', '2m')).toBe(-1);
    expect(formatQuantity(addQuantities('0.1', '0.2'))).toBe('300m');
  });

  test.each([
    ['0.5', 'decimal', '500m'],
    ['1536Mi', 'binary', '1536Mi'],
    ['2048Mi', 'binary', '2Gi'],
    ['1000', 'decimal', '1k'],
    ['512', 'binary', '512'],
    ['0', 'decimal', '0'],
  ] as const)('%s prints short and exact in %s', (value, style, text) =>
    expect(formatQuantity(value, style)).toBe(text),
  );

  test('what is printed reads back as the same amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n }), fc.boolean(), (nano, isBinary) => {
        const text = formatQuantity({ nano }, isBinary ? 'binary' : 'decimal');
        expect(parseQuantity(text).nano).toBe(nano);
      }),
    );
  });
});
