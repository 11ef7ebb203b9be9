import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { jsonEqual, semanticallyEqual } from './equality.ts';
import { mutable } from './mutable.ts';

describe('semanticallyEqual', () => {
  test.each([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: [] }, {}, true],
    [{ a: null }, { a: {} }, true],
    [{ a: undefined }, {}, true],
    [{ a: 0 }, {}, false],
    [{ a: '' }, {}, false],
    [{ a: false }, {}, false],
    [[1, 2], [2, 1], false],
    [{ a: { b: [] } }, { a: { b: null } }, true],
    [{}, { a: 1 }, false],
    [[], {}, true],
    ['1', 1, false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(semanticallyEqual(a, b)).toBe(expected);
    expect(semanticallyEqual(b, a)).toBe(expected);
  });
});

describe('jsonEqual', () => {
  test('forgives only the order of keys', () => {
    expect(jsonEqual({ a: 1, b: [{ c: 1, d: 2 }] }, { b: [{ d: 2, c: 1 }], a: 1 })).toBe(true);
    expect(jsonEqual({ a: [] }, {})).toBe(false);
    expect(jsonEqual({ a: undefined }, {})).toBe(true);
    expect(jsonEqual({}, { a: null })).toBe(false);
    expect(jsonEqual([1], { 0: 1 })).toBe(false);
  });

  test('agrees with the JSON text of a copy', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => jsonEqual(value, JSON.parse(JSON.stringify(value)))));
  });
});

describe('mutable', () => {
  test('copies all the way down', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const source = Object.freeze(JSON.parse(JSON.stringify(value)));
        expect(mutable(source)).toEqual(source);
      }),
    );
    const source = { a: [{ b: 1 }] } as const;
    const copy = mutable(source);
    copy.a[0]!.b = 2 as 1;
    copy.a.push({ b: 1 });
    expect(source.a).toEqual([{ b: 1 }]);
  });

  test('keeps a key called __proto__ a key', () => {
    const source = JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown>;
    expect(JSON.stringify(mutable(source))).toBe('{"__proto__":{"x":1}}');
  });
});
