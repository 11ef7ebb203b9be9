import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { equalJson } from './equal-json.ts';
import type { Json } from './object.ts';

it('agrees with Node about any two JSON values', () => {
  const small = fc
    .jsonValue({ maxDepth: 2, depthSize: 'small' })
    .map((value) => JSON.parse(JSON.stringify(value)) as Json);
  fc.assert(
    fc.property(small, small, (left, right) => {
      expect(equalJson(left, right)).toBe(isDeepStrictEqual(left, right));
      expect(equalJson(left, structuredClone(left))).toBe(true);
      expect(equalJson({ a: left, b: right }, { b: right, a: left })).toBe(true);
      expect(equalJson({ a: left }, { a: left, b: right })).toBe(false);
      expect(equalJson([left], { 0: left })).toBe(false);
    }),
  );
});

it('does not take a field for one of the prototype', () => {
  expect(equalJson({ toString: 1 }, { a: 1 })).toBe(false);
  expect(equalJson(JSON.parse('{"__proto__":1}'), JSON.parse('{"a":1}'))).toBe(false);
});
