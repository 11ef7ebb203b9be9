import fc from 'fast-check';
import { expect, test } from 'vitest';

import { floatText } from './leaf-bytes.ts';

test.each([
  [1e20, '100000000000000000000'],
  [1.5e-7, '0.00000015'],
  [-2.5, '-2.5'],
  [0, '0'],
  [-0, '-0'],
  [123456789012345680000, '123456789012345680000'],
  [Infinity, '+Inf'],
])('%s is written as %s', (value, text) => {
  expect(floatText(value)).toBe(text);
});

test('a float is written without an exponent and read back as the same float', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = floatText(value);
      expect(text).toMatch(/^-?\d+(\.\d+)?$/);
      expect(Number(text)).toBe(value);
    }),
  );
});
