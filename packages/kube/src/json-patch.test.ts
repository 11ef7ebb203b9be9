import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { applyJsonPatch, createJsonPatch } from './json-patch.ts';
import { applyMergePatch, createMergePatch } from './merge-patch.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>;
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe('JSON patch', () => {
  test('a patch made from two values turns one into the other', () => {
    fc.assert(
      fc.property(json.map(plain), json.map(plain), (from, to) => {
        expect(applyJsonPatch(from, createJsonPatch(from, to))).toEqual(to);
      }),
      { numRuns: 500 },
    );
  });

  test('lists that share their ends are patched in the middle', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ max: 3 })), fc.array(fc.integer({ max: 3 })), (from, to) => {
        expect(applyJsonPatch(from, createJsonPatch(from, to))).toEqual(to);
      }),
      { numRuns: 500 },
    );
    expect(createJsonPatch({ a: [1, 2, 3] }, { a: [1, 9, 2, 3] })).toEqual([{ op: 'add', path: '/a/1', value: 9 }]);
    expect(createJsonPatch({ a: [1, 2, 3] }, { a: [1, 3] })).toEqual([{ op: 'remove', path: '/a/1' }]);
  });

  test('keys with slashes and tildes are escaped', () => {
    const patch = createJsonPatch({ l: {} }, { l: { 'a/b~c': 'x' } });
    expect(patch).toEqual([{ op: 'add', path: '/l/a~1b~0c', value: 'x' }]);
    expect(applyJsonPatch({ l: {} }, patch)).toEqual({ l: { 'a/b~c': 'x' } });
  });

  test('move, copy and test work; a failed test changes nothing', () => {
    const before = { a: [1], b: { c: 2 } };
    const after = applyJsonPatch(before, [
      { op: 'test', path: '/b/c', value: 2 },
      { op: 'copy', from: '/b/c', path: '/a/-' },
      { op: 'move', from: '/b', path: '/d' },
    ]);
    expect(after).toEqual({ a: [1, 2], d: { c: 2 } });
    expect(() => applyJsonPatch(before, [{ op: 'test', path: '/b/c', value: 3 }])).toThrow('test of /b/c failed');
    expect(before).toEqual({ a: [1], b: { c: 2 } });
  });

  test.each([
    [{ op: 'remove', path: '/x' }, 'nothing at /x'],
    [{ op: 'replace', path: '/x', value: 1 }, 'nothing at /x'],
    [{ op: 'add', path: '/a/7', value: 1 }, '/a/7 is outside of its list'],
    [{ op: 'add', path: '/a/01', value: 1 }, '/a/01 is outside of its list'],
    [{ op: 'add', path: 'a', value: 1 }, 'must begin with "/"'],
    [{ op: 'move', from: '/b', path: '/b/c' }, 'cannot be moved into itself'],
  ] as const)('%j is refused', (operation, problem) => {
    expect(() => applyJsonPatch({ a: [1], b: {} }, [operation])).toThrow(problem);
  });

  test('a key called __proto__ is a key like any other', () => {
    const from = JSON.parse('{"a":{}}') as unknown;
    const to = JSON.parse('{"a":{"__proto__":{"polluted":true}}}') as unknown;
    const result = applyJsonPatch(from, createJsonPatch(from, to));
    expect(JSON.stringify(result)).toBe(JSON.stringify(to));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('merge patch', () => {
  const object = fc.dictionary(
    fc.string(),
    fc.jsonValue({ maxDepth: 3 }).filter((v) => !hasNull(v)),
  );

  test('a patch made from two objects turns one into the other', () => {
    fc.assert(
      fc.property(object.map(plain), object.map(plain), (from, to) => {
        const patch = createMergePatch(from as Record<string, unknown>, to as Record<string, unknown>);
        expect(patch === undefined ? from : applyMergePatch(from, patch)).toEqual(to);
      }),
      { numRuns: 300 },
    );
  });

  test('says nothing when nothing changes and null for what goes', () => {
    expect(createMergePatch({ a: 1, b: [1] }, { b: [1], a: 1 })).toBeUndefined();
    expect(createMergePatch({ a: 1, b: { c: 1, d: 2 } }, { b: { c: 1 } })).toEqual({ a: null, b: { d: null } });
  });
});

function hasNull(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'object' && Object.values(value).some(hasNull);
}
